import PressureKit
import SampleContent

/// Choosing what leaves, and what it costs to keep a value in the books.
struct PlanBench {
    let plan: BenchPlan
    let directory: String

    func run() throws -> [BenchResult] { [planning(), try overhead()] }

    /// A warning's share of the candidates by the default policy, against sorting as many keys.
    private func planning() -> BenchResult {
        let count = plan.candidates
        var random = SplitMix64(seed: 1)
        let keys = (0..<count).map { _ in random.next() }
        let candidates = keys.map(Self.candidate)
        let goal = candidates.reduce(0) { $0 + $1.footprint } / 4
        var choices = [Planner.Choice](repeating: Planner.Choice(rank: 0, index: 0), count: count)
        let (limit, ours) = BenchTiming.medians(plan.rounds) {
            var sorted = keys
            let seconds = BenchTiming.seconds { sorted.sort() }
            BenchTiming.consume(sorted[count / 2])
            return seconds
        } ours: {
            // Both arrays outlive the call, and `choices` is as long as `candidates`.
            unsafe candidates.withUnsafeBufferPointer { candidates in
                unsafe choices.withUnsafeMutableBufferPointer { choices in
                    BenchTiming.seconds { unsafe Self.choose(candidates, choices, goal: goal) }
                }
            }
        }
        return BenchResult(.planMillion, value: ours, limit: limit)
    }

    /// Sizes from 1 KiB to 64 KiB, any age and cost; a quarter is clean, a quarter droppable, half has to be written.
    private static func candidate(_ key: UInt64) -> Candidate {
        Candidate(
            footprint: 1024 << Int(key & 7 % 7),
            stamp: UInt32(truncatingIfNeeded: key >> 8) & 0xFF_FFFF,
            method: [.release, .drop, .spill, .spill][Int(key >> 40 & 3)],
            isVisible: key >> 42 & 3 == 0,
            depth: UInt16(key >> 44 & 3),
            hits: UInt8(key >> 46 & 3),
            hasRefaulted: key >> 48 & 15 == 0,
            restoreCost: Float(key >> 52 & 0xFFF) * 1000,
            reloadCost: Float(key >> 50 & 0xFFF) * 1000,
            writeCost: Float(key >> 51 & 0xFFF) * 1000
        )
    }

    private static func choose(
        _ candidates: UnsafeBufferPointer<Candidate>,
        _ choices: UnsafeMutableBufferPointer<Planner.Choice>,
        goal: Int
    ) {
        let chosen = unsafe Planner.plan(
            candidates,
            choices: choices,
            goal: goal,
            policy: CostAware(),
            now: 1 << 24
        )
        BenchTiming.consume(UInt64(chosen))
    }

    /// The bytes of slots and tables for each entry, at counts that fill the tables well and badly.
    private func overhead() throws -> BenchResult {
        let manager = try BenchManager.make(directory: directory)
        let payload = MemoryLayout<UInt64>.size + MemoryLayout<BenchValue>.size
        let costs = try plan.weighedCounts.map { count in
            let cache = try manager.root.keyedCache("weighed\(count)", key: UInt64.self, value: BenchValue.self)
            for key in 0..<UInt64(count) { cache.set(BenchValue(number: key), for: key) }
            return Double(cache.bookkeepingByteCount) / Double(count) - Double(payload)
        }
        return BenchResult(.entryOverhead, value: costs.max())
    }
}
