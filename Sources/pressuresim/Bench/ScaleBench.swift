import PressureKit
import SampleContent

/// What an entry of a keyed cache costs, by how many there are. A flat column is a cost that does not grow.
struct ScaleRow: Hashable, Sendable, Encodable {
    var entries: Int
    /// Seconds for each entry: putting it in, finding it, planning, all of the eviction, bringing it back.
    var register: Double
    var hit: Double
    var plan: Double
    var evict: Double
    var restore: Double
}

/// Measures the rows.
struct ScaleBench {
    let plan: BenchPlan
    let directory: String
    let log: ReclaimLog

    func run() throws -> [ScaleRow] { try plan.scaleCounts.map(row) }

    private func row(_ count: Int) throws -> ScaleRow {
        let manager = try BenchManager.make(directory: directory)
        let cache = try manager.root.keyedCache("scale", key: UInt64.self, value: BenchValue.self)
        let each = 1 / Double(count)
        let register = BenchTiming.seconds {
            for key in 0..<UInt64(count) { cache.set(BenchValue(number: key), for: key) }
        }
        // Any order but that of the table; the same keys, so that all are hits.
        var random = SplitMix64(seed: 1)
        let order = (0..<UInt64(count)).shuffled(using: &random)
        let hit = try readAll(cache, order)
        let report = try log.reclaim(manager)
        let restore = try readAll(cache, order)
        return ScaleRow(
            entries: count,
            register: register * each,
            hit: hit * each,
            plan: report.phases.plan.seconds * each,
            evict: report.duration.seconds * each,
            restore: restore * each
        )
    }

    private func readAll(_ cache: KeyedCache<UInt64, BenchValue>, _ order: [UInt64]) throws -> Double {
        var sum: UInt64 = 0
        let seconds = try BenchTiming.seconds {
            for key in order { sum &+= try cache.withValue(for: key) { $0.number } }
        }
        // 0 + 1 + … : each value was the one of its key.
        let count = UInt64(order.count)
        guard sum == count * (count - 1) / 2 else { throw BenchRefusal(description: "A value came back changed.") }
        return seconds
    }
}
