import PressureKit
import ReportPages
import ScenarioLanguage

/// Memory over time: what lives in memory above the line, what lives on disk below it.
extension HtmlReport {
    /// So many points are drawn at most, and so many are told in the table.
    private static let drawn = 480
    private static let told = 60

    var memory: Page.Section? {
        guard record.timeline.points.count > 1 else { return nil }
        return Page.Section("memory", "Memory over time", short: "Memory") {
            figure.html
            processes
        }
    }

    private var figure: ChartFigure {
        ChartFigure(
            id: "memory-figure",
            title: "Where the bytes were",
            caption: .text(
                "Above the line, what was in memory; below it, what was on disk. What has a copy there goes at once; what a "
                    + "loader makes again goes at once or is written first, whichever costs less as measured by then; "
                    + "everything else must be written first."
            ),
            legend: legend,
            chart: plot.html,
            table: table
        )
    }

    private var hasResident: Bool { record.timeline.points.contains { $0.rss != nil } }

    private func isThere(_ key: KeyPath<Timeline.Point, ByteCount>) -> Bool {
        record.timeline.points.contains { $0[keyPath: key] > .zero }
    }

    private var legend: [ChartFigure.Entry] {
        var entries: [ChartFigure.Entry] = [
            .init(tone: .blue, text: "in memory, to be written first"),
            .init(tone: .purple, text: "in memory, a loader makes it again"),
            .init(tone: .sky, text: "in memory, has a copy"),
        ]
        if isThere(\.compressed) { entries.append(.init(tone: .green, text: "in memory, compressed")) }
        if hasResident { entries.append(.init(tone: .ink, look: .line, text: "the process (VmRSS)")) }
        entries.append(.init(tone: .amber, text: "on disk, all copies as stored"))
        if isThere(\.inState) { entries.append(.init(tone: .grey, text: "on disk, in the state file")) }
        entries.append(.init(tone: .ink, look: .dashed, text: "values that are only there, in full"))
        if !record.reclaims.isEmpty {
            entries.append(.init(tone: .ink, look: .bar, text: "reclaim, as long as it took"))
        }
        for kind in Timeline.Mark.Kind.allCases where shownMarks.contains(where: { $0.kind == kind }) {
            entries.append(.init(tone: .ink, glyph: Self.glyphs[kind], text: kind.rawValue))
        }
        return entries + levelLegend
    }

    // MARK: Drawing

    /// A moment in the numbers that are drawn: the edges of the stacked areas, from the line outwards.
    private struct Moment {
        var at: Double
        var bound, reloadable, copied, compressed, stored, state, plain: Double
        var resident: Double?

        init(_ point: Timeline.Point) {
            at = point.at.seconds
            bound = Double(point.bound.bytes)
            reloadable = bound + Double(point.reloadable.bytes)
            copied = reloadable + Double(point.copied.bytes)
            compressed = copied + Double(point.compressed.bytes)
            stored = -Double(point.stored.bytes)
            state = stored - Double(point.inState.bytes)
            plain = -Double(point.spilled.bytes)
            resident = point.rss.map { Double($0.bytes) }
        }

        var numbers: [Double] { [bound, reloadable, copied, compressed, resident ?? 0, stored, state, plain] }
    }

    private var plot: Plot {
        let all = record.timeline.points.map(Moment.init)
        let series = all[0].numbers.indices.map { index in all.map { $0.numbers[index] } }
        let moments = Thinning.keep(series, limit: Self.drawn).map { all[$0] }
        let x = Axis.time(to: max(all.map(\.at).max() ?? 0, record.duration.seconds), ticks: 9)
        let lowest = all.map { min($0.state, $0.plain) }.min() ?? 0
        let y = Axis.bytes(
            from: lowest * 1.04,
            to: (all.map { max($0.compressed, $0.resident ?? 0) }.max() ?? 0) * 1.04,
            ticks: 7
        )

        func points(_ value: (Moment) -> Double) -> [PlotPoint] {
            moments.map { PlotPoint(x: x.position(of: $0.at), y: y.position(of: value($0))) }
        }
        func area(_ tone: Tone, from inner: (Moment) -> Double, to outer: (Moment) -> Double) -> Html {
            Plot.path("area fill-\(tone)", .area(upper: points(outer), lower: points(inner)))
        }
        var layers = levelBands(x) + reclaimBars(x)
        layers.append(area(.blue, from: { _ in 0 }, to: \.bound))
        layers.append(area(.purple, from: \.bound, to: \.reloadable))
        layers.append(area(.sky, from: \.reloadable, to: \.copied))
        if isThere(\.compressed) { layers.append(area(.green, from: \.copied, to: \.compressed)) }
        if lowest < 0 {
            layers.append(area(.amber, from: \.stored, to: { _ in 0 }))
            if isThere(\.inState) { layers.append(area(.grey, from: \.state, to: \.stored)) }
            layers.append(Plot.path("line-ink dashed", .line(points(\.plain))))
        }
        layers.append(Plot.segment("zero", from: (0, 1 - y.position(of: 0)), to: (1, 1 - y.position(of: 0))))
        if hasResident { layers.append(Plot.path("line-ink", .line(points { $0.resident ?? 0 }))) }
        let marks = marks(x)
        layers.append(marks.html)
        return Plot(
            id: "memory-chart",
            title: "Memory by tier over time",
            description: description,
            height: 340,
            x: x,
            y: y,
            headroom: marks.headroom,
            narrowHeadroom: marks.narrowHeadroom,
            layers: layers
        )
    }

    private var description: String {
        let points = record.timeline.points
        func most(_ key: KeyPath<Timeline.Point, ByteCount>) -> ByteCount {
            points.map { $0[keyPath: key] }.max() ?? .zero
        }
        let first = points.first?.resident ?? .zero
        let last = points.last?.resident ?? .zero
        let warnings = Quantities.count(record.timeline.marks.count { $0.kind == .warning }, "warning")
        let reclaims = Quantities.count(record.reclaims.count, "reclaim")
        let state = isThere(\.inState) ? ", \(most(\.inState)) in the state file" : ""
        return "\(first) of values in memory at the start, \(most(\.resident)) at most, \(last) at the end; "
            + "at most \(most(\.stored)) on disk\(state). \(warnings), \(reclaims)."
    }

    // MARK: The same in numbers

    private var table: DataTable {
        let points = record.timeline.points
        let x = Axis.time(to: max(points.map(\.at.seconds).max() ?? 0, record.duration.seconds))
        var table = DataTable(
            caption: "Memory by tier, at some of the \(Quantities.count(points.count)) moments that were looked at",
            columns: [
                .number("Time"), .text("Level"), .number("To be written"), .number("Has a loader"),
                .number("Has a copy"), .number("Compressed"), .number("On disk"),
            ] + (isThere(\.inState) ? [.number("In the state file")] : []) + [.number("Only there")]
                + (hasResident ? [.number("VmRSS")] : [])
        )
        for index in Thinning.evenly(points.count, limit: Self.told) {
            let point = points[index]
            var cells = [
                Quantities.fixed(point.at.seconds, 2) + " s", "\(point.level)", "\(point.bound)", "\(point.reloadable)",
                "\(point.copied)", "\(point.compressed)", "\(point.stored)",
            ]
            if isThere(\.inState) { cells.append("\(point.inState)") }
            cells.append("\(point.spilled)")
            if hasResident { cells.append(point.rss.map { "\($0)" } ?? "–") }
            table.add(moment: cells, position: x.position(of: point.at.seconds))
        }
        return table
    }
}

extension Timeline.Point {
    /// Bytes in memory that nobody else has: without a copy, and without a loader.
    fileprivate var bound: ByteCount { max(resident - copied - reloadable, .zero) }
}
