#if Metrics
import Foundation
import MetricsTestKit

/// The files of `Examples/Monitoring`, and the metrics that there are.
enum Monitoring {
    struct Names {
        var counters: Set<String>
        var meters: Set<String>
        var timers: Set<String>
        var all: Set<String> { counters.union(meters).union(timers) }

        /// As Prometheus has them: a timer is a histogram there.
        var exported: Set<String> {
            timers.reduce(into: counters.union(meters)) { names, timer in
                for suffix in ["_bucket", "_sum", "_count"] { names.insert(timer + suffix) }
            }
        }
    }

    static func names(of factory: TestMetrics) -> Names {
        Names(
            counters: Set(factory.counters.map(\.label)),
            meters: Set(factory.meters.map(\.label)),
            timers: Set(factory.timers.map(\.label))
        )
    }

    static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Examples/Monitoring")

    static func text(_ file: String) throws -> String {
        try String(contentsOf: directory.appendingPathComponent(file), encoding: .utf8)
    }

    /// All metrics that a text mentions.
    static func mentioned(in text: String) -> Set<String> {
        Set(text.matches(of: /\bpressurekit_[a-z_]+/).map { String($0.output) })
    }

    /// All recording rules that a text mentions: their names have colons.
    static func rules(in text: String) -> Set<String> {
        Set(text.matches(of: /\b[a-z]+:pressurekit_[a-z_]+(:[a-z0-9_]+)+/).map { String($0.output.0) })
    }
}
#endif
