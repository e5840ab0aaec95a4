import Foundation

/// How one measurement went over time: reads and use of the limit, in parts of equal length since the reads began.
struct WorthCurve: Hashable, Sendable, Codable {
    /// A process had made so many reads by then.
    struct Tick: Hashable, Sendable {
        var at: Int64
        var count: Int
    }

    /// The cgroup at one moment.
    struct Sight: Hashable, Sendable {
        var at: Int64
        /// All that is charged.
        var usage: Int
        /// The part of it that is the processes' own memory.
        var anonymous: Int
    }

    /// The length of a part, in seconds.
    var step = 0.25
    /// Reads a second in each part.
    var readsPerSecond: [Double] = []
    /// The use at the end of each part, as last seen; in bytes.
    var usageBytes: [Int] = []

    init() {}

    /// - Parameters:
    ///   - ticks: those of each process, as they were told.
    ///   - sights: of their cgroup.
    ///   - window: from its start to its end is drawn.
    init(_ ticks: [[Tick]], _ sights: [Sight], _ window: WorthWindow) {
        let count = Int((Double(window.to - window.start) / 1e9 / step).rounded(.down))
        guard count > 0 else { return }
        let edges = (0...count).map { window.start + Int64(Double($0) * step * 1e9) }
        let totals = edges.map { edge in ticks.reduce(0.0) { $0 + Self.reads($1, by: edge) } }
        readsPerSecond = zip(totals, totals.dropFirst()).map { max($1 - $0, 0) / step }
        usageBytes = edges.dropFirst().map { edge in
            (sights.last { $0.at <= edge } ?? sights.first)?.usage ?? 0
        }
    }

    /// The reads of a process by a moment, on a straight line between what it told before and after.
    static func reads(_ ticks: [Tick], by moment: Int64) -> Double {
        guard let after = ticks.firstIndex(where: { $0.at >= moment }) else { return Double(ticks.last?.count ?? 0) }
        let next = ticks[after]
        guard after > 0 else { return next.at == moment ? Double(next.count) : 0 }
        let last = ticks[after - 1]
        let part = Double(moment - last.at) / Double(next.at - last.at)
        return Double(last.count) + part * Double(next.count - last.count)
    }
}
