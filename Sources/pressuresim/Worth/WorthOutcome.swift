import PressureKit

/// How a contender fared in one measurement.
struct WorthOutcome: Hashable, Sendable {
    /// How it ended.
    enum End: String, Hashable, Sendable, Codable {
        case finished
        /// The kernel killed a process for memory.
        case killed
        /// It was not done long after it should have been.
        case stuck
    }

    var contender: WorthContender
    var end = End.finished
    /// The figures of the time that counts; zeros unless it finished.
    var figures = WorthFigures()
    /// Reads that gave the wrong bytes.
    var wrong = 0
    /// Reads that failed.
    var failed = 0
    var complaints: [String] = []
    /// Of PressureKit.
    var library: WorthLibraryPart?
    var curve = WorthCurve()

    /// Whether it went on to the end.
    var isAlive: Bool { end == .finished }
    /// Whether nothing was wrong with it.
    var isRight: Bool { isAlive && wrong == 0 && failed == 0 }
}

/// What is told of a measurement, and of several their medians.
struct WorthFigures: Hashable, Sendable, Codable {
    var readsPerSecond = 0.0
    /// Loads over reads, 0 … 1: how often a value was neither in memory nor in a copy.
    var loadShare = 0.0
    /// How long a read took, in seconds.
    var p50 = 0.0
    var p99 = 0.0
    var p999 = 0.0
    var longest = 0.0
    /// Of the limit, 0 … 1.
    var meanUse = 0.0
    var leastUse = 0.0
    var meanAnonymousBytes = 0.0

    /// The unit belongs to the name where programs read it.
    private enum CodingKeys: String, CodingKey {
        case readsPerSecond, loadShare, meanUse, leastUse, meanAnonymousBytes
        case p50 = "p50Seconds"
        case p99 = "p99Seconds"
        case p999 = "p999Seconds"
        case longest = "longestSeconds"
    }

    init() {}

    /// - Parameters:
    ///   - latencies: of all processes.
    ///   - loads: likewise.
    ///   - sights: those within the time that counts are looked at.
    init(
        _ latencies: Latencies,
        loads: Int = 0,
        _ sights: [WorthCurve.Sight],
        _ window: WorthWindow,
        limit: ByteCount
    ) {
        readsPerSecond = Double(latencies.count) / window.seconds
        loadShare = latencies.count > 0 ? Double(loads) / Double(latencies.count) : 0
        p50 = latencies.percentile(50) ?? 0
        p99 = latencies.percentile(99) ?? 0
        p999 = latencies.percentile(99.9) ?? 0
        longest = latencies.percentile(100) ?? 0
        let seen = sights.filter { window.from..<window.to ~= $0.at }
        guard !seen.isEmpty else { return }
        let count = Double(seen.count)
        meanUse = seen.reduce(0.0) { $0 + Double($1.usage) } / count / Double(limit.bytes)
        leastUse = Double(seen.map(\.usage).min() ?? 0) / Double(limit.bytes)
        meanAnonymousBytes = seen.reduce(0.0) { $0 + Double($1.anonymous) } / count
    }

    private static let all: [any WritableKeyPath<WorthFigures, Double> & Sendable] = [
        \.readsPerSecond, \.loadShare, \.p50, \.p99, \.p999, \.longest, \.meanUse, \.leastUse, \.meanAnonymousBytes,
    ]

    /// Each figure's median.
    static func medians(_ figures: [WorthFigures]) -> WorthFigures {
        var medians = WorthFigures()
        for key in all { medians[keyPath: key] = BenchTiming.percentile(figures.map { $0[keyPath: key] }, 0.5) }
        return medians
    }
}

/// What was found in a cell.
struct WorthResult: Hashable, Sendable {
    var kind: WorthKind
    var cell: WorthCell
    /// What was tried to find the LRU's bound.
    var probes: [BoundSearch.Probe] = []
    /// The bound, in hundredths of the limit; `nil` when the LRU was killed with every one.
    var bound: Int?
    /// In the order in which they took place; those of an LRU that was killed after all are among the probes.
    var outcomes: [WorthOutcome] = []

    /// What of it the first process's LRU has, in hundredths; `nil` for an equal part.
    var firstPart: Int?

    /// Of each process's LRU; `nil` when it was killed with every one.
    var bounds: [ByteCount]? {
        bound.map { bound in
            let (all, count) = (cell.limit.bytes / 100 * bound, kind.processes)
            guard let firstPart, count > 1 else { return Array(repeating: .bytes(all / count), count: count) }
            let first = all / 100 * firstPart
            return [.bytes(first)] + Array(repeating: .bytes((all - first) / (count - 1)), count: count - 1)
        }
    }

    func outcomes(of contender: WorthContender) -> [WorthOutcome] { outcomes.filter { $0.contender == contender } }

    /// The medians of those that finished; `nil` when none has.
    func figures(of contender: WorthContender) -> WorthFigures? {
        let finished = outcomes(of: contender).filter(\.isAlive).map(\.figures)
        return finished.isEmpty ? nil : .medians(finished)
    }

    /// Its reads a second over the LRU's.
    var ratio: Double? {
        guard let ours = figures(of: .kit), let theirs = figures(of: .lru), theirs.readsPerSecond > 0 else {
            return nil
        }
        return ours.readsPerSecond / theirs.readsPerSecond
    }

    /// The measurement whose speed is the median: its curve is drawn.
    func typical(_ contender: WorthContender) -> WorthOutcome? {
        let finished = outcomes(of: contender).filter(\.isAlive)
        let median = BenchTiming.percentile(finished.map(\.figures.readsPerSecond), 0.5)
        return finished.first { $0.figures.readsPerSecond == median }
    }

    func kills(of contender: WorthContender) -> Int { outcomes(of: contender).count { $0.end == .killed } }

    /// Whether PressureKit went on to the end each time, and nobody read anything wrong.
    var isRight: Bool { outcomes.allSatisfy { $0.contender == .kit ? $0.isRight : $0.wrong + $0.failed == 0 } }
}
