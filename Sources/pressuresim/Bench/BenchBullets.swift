import ReportPages

/// One run of the bench: every metric against its goal, in one chart.
struct BenchBullets {
    let run: BenchRun
    /// Every metric in words: the same as a table.
    let table: DataTable

    /// The figure; `nil` when nothing was measured.
    var figure: ChartFigure? {
        let rows = BenchMetric.allCases.compactMap(row)
        guard !rows.isEmpty else { return nil }
        let missed = rows.filter { !$0.holds }.map(\.title)
        return ChartFigure(
            id: "bullets-figure",
            title: "Every metric against its goal",
            caption: .text(
                "All goals stand below each other, at the line. A bar that ends on the shaded side has reached its goal; one "
                    + "that is more than twice the goal is cut. First the value, then the limit: what the machine does "
                    + "without the library."
            ),
            legend: [
                .init(tone: .blue, look: .bar, text: "reached"), .init(tone: .red, look: .bar, text: "missed"),
                .look(.goal, "goal"), .look(.better, "better than the goal"),
            ],
            chart: Bullets(
                id: "bullets-chart",
                title: "Every metric against its goal",
                description:
                    "\(rows.count(where: \.holds)) of \(Quantities.count(rows.count, "metric")) reach their goal"
                    + (missed.isEmpty ? "." : "; these do not: \(missed.joined(separator: ", "))."),
                rows: rows
            ).html,
            table: table
        )
    }

    private func row(_ metric: BenchMetric) -> Bullets.Row? {
        let goal = metric.goal
        guard let result = run[metric.rawValue], let number = result.number(goal), number.isFinite else { return nil }
        let value = result.value.map(metric.unit.text)
        let limit = result.limit.map(metric.unit.text)
        let shown = goal.ratio == .none ? value ?? "" : "\(Quantities.digits(number)) ×"
        let amounts = goal.ratio == .none ? nil : value.map { value in limit.map { "\(value), limit \($0)" } ?? value }
        let holds = goal.holds(number)
        return Bullets.Row(
            title: metric.rawValue,
            detail: amounts ?? "",
            share: Self.share(number, of: goal.bound),
            side: goal.side == .atMost ? .atMost : .atLeast,
            text: "\(holds ? "✓" : "✗") \(shown) (\(BenchPage.words(goal)))",
            holds: holds
        )
    }

    /// A number over its goal. Where the goal is nothing at all, anything is too much.
    static func share(_ number: Double, of bound: Double) -> Double {
        bound == 0 ? (number <= 0 ? 0 : .infinity) : number / bound
    }
}
