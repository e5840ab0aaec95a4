import ReportPages

/// One metric over all runs, small: its goal, its median, and what each run reached.
struct BenchChart {
    private struct Point {
        var run: BenchRun
        /// The ratio, or the value where there is none.
        var number: Double
        var holds: Bool
        var isComparable: Bool
        /// 0 … 1.
        var place: Double
    }

    private let subject: BenchSubject
    private let points: [Point]
    private let runs: [BenchRun]

    /// `nil` when no run has measured it.
    init?(subject: BenchSubject, runs: [BenchRun]) {
        self.subject = subject
        self.runs = runs
        guard let last = runs.last else { return nil }
        let axis = Axis.places(runs.map(\.date))
        points = runs.enumerated().compactMap { index, run in
            guard let number = run[subject.name]?.number(subject.goal), number.isFinite else { return nil }
            return Point(
                run: run,
                number: number,
                holds: subject.goal.holds(number),
                isComparable: run.isComparable(with: last),
                place: axis.position(of: Double(index) + 0.5)
            )
        }
        if points.isEmpty { return nil }
    }

    /// The figure, with its table.
    var figure: ChartFigure {
        ChartFigure(
            id: "\(id)-figure",
            title: subject.title,
            caption: .group {
                Html("span", .class(newest.holds ? "good" : "bad")) { newest.holds ? "✓ " : "✗ " }
                Html("strong") { now }
                "\u{2002}goal \(BenchPage.words(subject.goal))"
            },
            chart: plot.html,
            table: table
        )
    }

    private var id: String { HtmlText.identifier("metric-\(subject.name)") }
    private var newest: Point { points[points.count - 1] }
    private var hasRatio: Bool { subject.goal.ratio != .none }

    private func text(_ number: Double) -> String {
        hasRatio ? "\(Quantities.digits(number)) ×" : subject.unit.text(number)
    }
    private var now: String { text(newest.number).unbroken }

    /// Of those that can be compared with the newest one.
    private var median: Double { BenchTiming.percentile(points.filter(\.isComparable).map(\.number), 0.5) }

    private var plot: Plot {
        let bound = subject.goal.bound
        let most = max(points.map(\.number).max() ?? bound, bound, bound == 0 ? 1 : 0)
        let y = Axis.numbers(from: 0, to: most * 1.12, ticks: 3)
        let labels = [runs.first, runs.count > 1 ? runs.last : nil].compactMap { $0.map { BenchPage.day($0) } }
        let ends = zip(labels, [0.5, Double(runs.count) - 0.5]).map { Axis.Tick(value: $1, label: $0) }
        return Plot(
            id: "\(id)-chart",
            title: "\(subject.title) over \(Quantities.count(points.count, "run"))",
            description: description,
            height: 120,
            x: Axis.places(count: runs.count, ticks: ends),
            y: y,
            narrowest: 200,
            layers: layers(y)
        )
    }

    private var description: String {
        let goal = "The goal is \(BenchPage.words(subject.goal)); the limit is: \(subject.limit)."
        return "Newest \(now), median \(text(median)). " + goal
    }

    private func layers(_ y: Axis) -> [Html] {
        func place(_ point: Point) -> PlotPoint { PlotPoint(x: point.place, y: y.position(of: point.number)) }
        let goal = 1 - y.position(of: subject.goal.bound)
        let comparable = points.filter(\.isComparable)
        var layers = [
            subject.goal.side == .atMost
                ? Plot.shade("track", from: goal, to: 1) : Plot.shade("track", from: 0, to: goal),
            Plot.segment("reference", from: (0, goal), to: (1, goal)),
        ]
        if comparable.count > 1 {
            let height = 1 - y.position(of: median)
            layers.append(Plot.segment("median-line", from: (0, height), to: (1, height)))
            layers.append(Plot.path("line-blue", .line(comparable.map(place))))
        }
        layers += points.map { point in
            let tone: Tone = point.holds ? .blue : .red
            return point.isComparable
                ? Plot.dot("fill-\(tone)", at: place(point)) : Plot.dot("hollow line-grey", at: place(point))
        }
        return layers
    }

    private var table: DataTable {
        var table = DataTable(
            caption: "\(subject.title), by run",
            columns: [.text("Run"), .number("Value"), .number("Limit")] + (hasRatio ? [.number("Ratio")] : [])
                + [.text("Goal")]
        )
        for point in points {
            let commit = point.run.commit.map { " \($0)" } ?? ""
            let other = point.isComparable ? "" : " (another machine, build or plan)"
            let result = point.run[subject.name]
            table.add(
                [
                    BenchPage.day(point.run) + commit + other, result?.value.map(subject.unit.text) ?? "–",
                    result?.limit.map(subject.unit.text) ?? "–",
                ] + (hasRatio ? [Quantities.digits(point.number)] : []) + [point.holds ? "reached" : "missed"],
                position: point.place
            )
        }
        return table
    }
}
