import ReportPages

/// The latencies as a table and as JSON, in the words of the rest of the bench.
struct SignalsBenchReport: Sendable {
    var latencies: [SignalsBench.Kind: SignalsBench.Latencies]

    func text(_ style: Style) -> String {
        var table = TextTable([.left, .right, .right, .right, .left, .left])
        table.add(["metric", "crossings", "p50", "value", "goal", "verdict"])
        for kind in SignalsBench.Kind.allCases {
            let latencies = latencies[kind] ?? SignalsBench.Latencies()
            let holds = latencies.percentile(0.99).map(kind.goal.holds)
            table.add([
                kind.metric, "\(latencies.milliseconds.count + latencies.unanswered)",
                Self.text(latencies.percentile(0.5)), Self.text(latencies.percentile(0.99)), "\(kind.goal.text) ms",
                holds.map { $0 ? "reached" : "missed" } ?? "not measured",
            ])
        }
        let lines = table.lines
        return ([style.bold("From crossing to first byte freed, in a real cgroup")] + lines).joined(separator: "\n")
    }

    private static func text(_ milliseconds: Double?) -> String {
        guard let milliseconds else { return "-" }
        return milliseconds.isFinite ? "\(Quantities.digits(milliseconds)) ms" : "never"
    }

    /// The same for programs, with the keys of `bench`.
    var json: SignalsBenchJSON { SignalsBenchJSON(self) }
}

/// The latencies for programs.
struct SignalsBenchJSON: Encodable {
    struct MetricPart: Encodable {
        var name: String
        /// The 99th percentile; missing when nothing was measured or something was never answered.
        var value: Double?
        var unit = "ms"
        var p50: Double?
        var goal: String
        var holds: Bool?
        var crossings: Int
        var unanswered: Int
    }

    var formatVersion = 1
    var command = "bench --signals"
    var metrics: [MetricPart]

    init(_ report: SignalsBenchReport) {
        metrics = SignalsBench.Kind.allCases.map { kind in
            let latencies = report.latencies[kind] ?? SignalsBench.Latencies()
            let value = latencies.percentile(0.99)
            return MetricPart(
                name: kind.metric,
                value: value.flatMap { $0.isFinite ? $0 : nil },
                p50: latencies.percentile(0.5).flatMap { $0.isFinite ? $0 : nil },
                goal: kind.goal.text,
                holds: value.map(kind.goal.holds),
                crossings: latencies.milliseconds.count + latencies.unanswered,
                unanswered: latencies.unanswered
            )
        }
    }
}
