import PressureKit
import ScenarioLanguage

/// What one reclaim did, as the account and the JSON report tell it. Numbers carry their unit in their name.
struct ReclaimRecord: Encodable, Sendable {
    /// Values of caches that are alike and left memory in the same way.
    struct Group: Encodable, Sendable {
        /// The caches' path, with `*` for their numbers.
        var path: String
        /// `dropped`, `spilled`, `compressed` or `reused`.
        var outcome: String
        var values: Int
        /// What that freed.
        var bytes: Int
        /// What copies made for it take, in the spill file or compressed in memory.
        var storedBytes: Int
    }

    /// Values that stayed, by reason.
    struct Skips: Encodable, Sendable {
        var reason: String
        var values: Int
        var bytes: Int
    }

    /// Seconds since the timeline began.
    var atSeconds: Double
    /// The cause in a line: source, numbers, threshold, age, levels.
    var cause: String
    /// `simulated`, `background`, `meminfo`, …
    var origin: String
    /// `nil` when no number of bytes was asked for.
    var goalBytes: Int?
    var claimedBytes: Int
    /// By the library's own measurement.
    var returnedBytes: Int
    /// By the tool's: VmRSS of /proc/self/status before and after. `nil` for a reclaim that no step asked for.
    var rssFallBytes: Int?
    var copiedBytes: Int
    /// What that takes in the spill file.
    var storedBytes: Int
    /// What it takes compressed in memory.
    var compressedBytes: Int
    var durationSeconds: Double
    var trimmed: Bool
    var evicted: [Group]
    var skipped: [Skips]
    var failures: [String]

    init(_ report: EvictionReport, at start: Duration, rssFall: ByteCount?) {
        atSeconds = start.seconds
        cause = report.cause.wordsForTool
        origin = report.cause.origin.rawValue
        goalBytes = report.goal?.bytes
        claimedBytes = report.claimed.bytes
        returnedBytes = report.returned.bytes
        rssFallBytes = rssFall?.bytes
        copiedBytes = report.copied.bytes
        storedBytes = report.stored.bytes
        compressedBytes = report.heldInCompressedTier.bytes
        durationSeconds = report.duration.seconds
        trimmed = report.trimmed
        evicted = Self.groups(report.evicted)
        skipped = Self.skips(report.skipped)
        failures = report.failures.map(\.lineForTool)
    }

    /// How many values left memory in a way, or in any.
    func values(_ outcome: EvictionReport.Outcome? = nil) -> Int {
        evicted.reduce(0) { $0 + (outcome == nil || $1.outcome == outcome?.rawValue ? $1.values : 0) }
    }

    private static func groups(_ evicted: [EvictionReport.Evicted]) -> [Group] {
        var groups: [Group] = []
        var known: [String: Int] = [:]
        for one in evicted {
            let path = Numbering.kind(of: one.path)
            let key = "\(path) \(one.outcome)"
            let index = known[key] ?? groups.count
            if index == groups.count {
                known[key] = index
                groups.append(
                    Group(path: path, outcome: one.outcome.rawValue, values: 0, bytes: 0, storedBytes: 0)
                )
            }
            groups[index].values += one.count
            groups[index].bytes += one.bytes.bytes
            groups[index].storedBytes += one.storedBytes.bytes
        }
        return groups
    }

    private static func skips(_ skipped: [EvictionReport.Skipped]) -> [Skips] {
        EvictionReport.SkipReason.allCases.compactMap { reason in
            let those = skipped.filter { $0.reason == reason }
            guard !those.isEmpty else { return nil }
            let bytes = those.reduce(0) { $0 + $1.bytes.bytes }
            return Skips(reason: reason.rawValue, values: those.reduce(0) { $0 + $1.count }, bytes: bytes)
        }
    }
}
