/// How long readers waited and evictions took, each as a distribution over one logarithmic axis.
extension HtmlReport {
    private static let perDecade = 12

    private var rows: [(title: String, tone: Tone, latencies: Latencies)] {
        let all: [(String, Tone, Latencies?)] =
            [
                ("read, in memory", .blue, record.tally.latencies[.hit]),
                ("read, loaded", .purple, record.tally.latencies[.load]),
                ("read, restored", .amber, record.tally.latencies[.restore]),
            ] + restoresBySize
            + [("evict one value", .green, record.evictions)]
        return all.compactMap { title, tone, latencies in
            guard let latencies, latencies.count > 0 else { return nil }
            return (title, tone, latencies)
        }
    }

    private var restoresBySize: [(String, Tone, Latencies?)] { [] }

    var latencies: Page.Section? {
        let rows = rows
        guard !rows.isEmpty else { return nil }
        return Page.Section("latency", "How long it took", short: "Latency") { figure(rows).html }
    }

    private func figure(_ rows: [(title: String, tone: Tone, latencies: Latencies)]) -> ChartFigure {
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
                    bars: row.latencies.intervals(perDecade: Self.perDecade),
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

    private func table(_ rows: [(title: String, tone: Tone, latencies: Latencies)]) -> DataTable {
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
