import Foundation
import PressureKit
import ReportPages

/// Where a page's figures were measured: enough to compare, and nobody's host name.
struct PageMachine: Hashable, Sendable {
    var processor: String
    var cores: Int
    var memoryBytes: Int
    var kernel: String
    var system: String
    var spillDirectory: String
    var isOptimized: Bool
    /// To the minute, in UTC.
    var date: String

    /// This machine, now.
    static func current(spillDirectory: String?, now: Date = Date()) -> PageMachine {
        let machine = BenchMachine(spillDirectory: "", corpus: "", loadBefore: 0)
        let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        return PageMachine(
            processor: machine.processor,
            cores: machine.cores,
            memoryBytes: machine.memoryBytes,
            kernel: release?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown",
            system: machine.kernel,
            spillDirectory: spillDirectory ?? "as the library chooses: $TMPDIR, then /var/tmp",
            isOptimized: machine.optimized,
            date: String(now.ISO8601Format().prefix(16)).replacingOccurrences(of: "T", with: " ") + " UTC"
        )
    }

    /// For a page's list.
    var facts: [(name: String, value: String)] {
        [
            ("Processor", "\(processor), \(Quantities.count(cores, "core"))"),
            ("Memory", Quantities.bytes(Double(memoryBytes))), ("Kernel", "Linux \(kernel)"), ("System", system),
            ("Spill directory", spillDirectory), ("Build", isOptimized ? "release" : "debug"), ("Date", date),
        ]
    }
}
