import PressureKit
import Synchronization

/// What it costs a reclaim that its values have been read often, without pins, while a thread goes on reading others.
struct ReadOftenBench {
    let plan: BenchPlan
    let directory: String

    private static let keys = 10_000
    /// Enough for nearly all to be drawn.
    private static let reads = 1000

    func run() throws -> [BenchResult] {
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            try reclaim(afterReads: 1)
        } ours: {
            try reclaim(afterReads: Self.reads)
        }
        return [BenchResult(.reclaimReadOften, value: ours, limit: limit)]
    }

    /// The seconds that a reclaim of all values takes.
    private func reclaim(afterReads reads: Int) throws -> Double {
        let manager = try BenchManager.make(directory: directory)
        let cache = try manager.root.keyedCache("values") { (key: Int) in BenchValue(number: UInt64(key)) }
        for _ in 0..<reads { for key in 0..<Self.keys { try cache.withValue(for: key) { _ in } } }
        // Another manager's, so that nothing stays because it is being read.
        let other = try BenchManager.make(directory: directory)
        let hot = try other.root.cache("hot", initialValue: BenchValue(number: 1))
        let isOver = Flag()
        let outcome = Lock<Result<Double, any Error>?>(nil)
        try Blocking.parallel(2) { thread in
            guard thread == 1 else {
                var sum: UInt64 = 0
                while !isOver.isSet { sum &+= (try? hot.withValue { $0.number }) ?? 0 }
                return BenchTiming.consume(sum)
            }
            defer { isOver.set() }
            let result = Result { try ReclaimLog().reclaim(manager).duration.seconds }
            outcome.withLock { $0 = result }
        }
        return try outcome.withLock { try $0?.get() ?? 0 }
    }

    private final class Flag: Sendable {
        private let flag = Atomic<Bool>(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }
}
