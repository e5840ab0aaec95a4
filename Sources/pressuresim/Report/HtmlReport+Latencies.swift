import PressureKit
import ReportPages
import ScenarioLanguage

/// How long readers waited and evictions took, each as a distribution over one logarithmic axis.
extension HtmlReport {
    private static let perDecade = 12

    private typealias LatencyRow = (title: String, tone: Tone, latencies: Latencies)

    private var rows: [LatencyRow] {
        var rows: [LatencyRow] = []
        func add(_ title: String, _ tone: Tone, _ latencies: Latencies?) {
            if let latencies, latencies.count > 0 { rows.append((title, tone, latencies)) }
        }
        add("read, in memory", .blue, record.tally.latencies[.hit])
        add("read, loaded", .purple, record.tally.latencies[.load])
        add("read, restored", .amber, record.tally.latencies[.restore])
        rows += Self.rows("restored", .amber, record.restoresBySize)
        add("evict one value", .green, record.evictions)
        rows += Self.rows("evicted", .green, record.evictionsBySize)
        return rows
    }

    /// A row for each size, where there are several.
    private static func rows(_ verb: String, _ tone: Tone, _ sizes: LatencyClasses) -> [LatencyRow] {
        let classes = sizes.classes
        guard classes.count > 1 else { return [] }
        return classes.map { ("\(verb), \(range(of: $0))", tone, $0.latencies) }
    }

    /// `"64 KiB–1 MiB"`.
    private static func range(of part: LatencyClasses.Class) -> String {
        let bounds = LatencyClasses.bounds
        func text(_ bound: ByteCount) -> String { Numeral.bytes(Double(bound.bytes)) }
        guard let end = part.upTo else { return "over \(text(bounds[bounds.count - 1]))" }
        guard let below = bounds.last(where: { $0 < end }) else { return "up to \(text(end))" }
        return "\(text(below))–\(text(end))"
    }

    /// The bars of a distribution.
    static func bars(_ latencies: Latencies) -> [(lower: Double, upper: Double, count: Int)] {
        let step = Ticks.power(of: 10, 1 / Double(perDecade))
        return latencies.buckets(perDecade: perDecade).map { ($0.upTo / step, $0.upTo, $0.count) }
    }

    var latencies: Page.Section? {
        let rows = rows
        guard !rows.isEmpty else { return nil }
        return Page.Section("latency", "How long it took", short: "Latency") { figure(rows).html }
    }

    private func figure(_ rows: [LatencyRow]) -> ChartFigure {
        let longest = rows.compactMap { $0.latencies.percentile(100) }.max() ?? 1
        let shortest = rows.compactMap { $0.latencies.percentile(0) }.min() ?? 1e-9
        let strips = Strips(
            id: "latency-chart",
            title: "Latencies",
            description: rows.map { row in
                "\(row.title): \(Quantities.count(row.latencies.count)), \(Self.summary(row.latencies))."
            }.joined(separator: " "),
            axis: .durations(from: shortest, to: longest),
            rows: rows.map { row in
                .init(
                    title: row.title,
                    summary: Self.summary(row.latencies),
                    tone: row.tone,
                    bars: Self.bars(row.latencies),
                    marks: [50, 99].compactMap { row.latencies.percentile($0) }
                )
            }
        )
        return ChartFigure(
            id: "latency-figure",
            title: "Reads and evictions",
            caption: .text(
                "Each step to the right is ten times as long. Heights are logarithms of how many, so that one slow read "
                    + "among thousands is seen. The thick line is the median (p50), the thin one p99."
            ),
            chart: strips.html,
            table: table(rows)
        )
    }

    private static func summary(_ latencies: Latencies) -> String {
        let parts = [(50.0, "p50"), (99, "p99")].compactMap { percent, name in
            latencies.percentile(percent).map { "\(name) \(Quantities.duration($0))" }
        }
        return parts.joined(separator: " · ")
    }

    private func table(_ rows: [LatencyRow]) -> DataTable {
        let percents: [(Double, String)] = [(50, "p50"), (90, "p90"), (99, "p99"), (99.9, "p99.9"), (100, "max")]
        var table = DataTable(
            caption: "Latencies by percentile",
            columns: [.text(""), .number("Count")] + percents.map { .number($0.1) }
        )
        table.columns[0].title = "What"
        for row in rows {
            let values = percents.map { row.latencies.percentile($0.0).map(Quantities.duration) ?? "–" }
            table.add([row.title, Quantities.count(row.latencies.count)] + values)
        }
        return table
    }
}
