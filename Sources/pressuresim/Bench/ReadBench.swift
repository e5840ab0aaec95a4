import Foundation
import PressureKit
import SampleContent
import Synchronization

/// Reads of values that are in memory.
struct ReadBench {
    let plan: BenchPlan
    let directory: String

    /// Keys of the keyed cache: few enough for the second-level cache, so that the locks and the lookup are measured and
    /// not the memory.
    private static let keys = 1024

    func run() throws -> [BenchResult] {
        try [single(), againstNSCache()] + keyed() + SuspendingBench(plan: plan, directory: directory).run()
            + CodedBench(plan: plan, directory: directory).run()
            + ReadOftenBench(plan: plan, directory: directory).run()
    }

    private func cache(_ manager: PressureManager) throws -> LazyCache<BenchValue> {
        try manager.root.cache("hot", initialValue: BenchValue(number: 1))
    }

    private func single() throws -> BenchResult {
        let manager = try BenchManager.make(directory: directory)
        let cache = try cache(manager)
        let counter = Atomic<UInt64>(0)
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            time { _ in
                counter.wrappingAdd(1, ordering: .acquiring)
                return counter.wrappingSubtract(1, ordering: .releasing).newValue
            }
        } ours: {
            try time { _ in try cache.withValue { $0.number } }
        }
        return BenchResult(.hotRead, value: ours, limit: limit)
    }

    private func againstNSCache() throws -> BenchResult {
        let manager = try BenchManager.make(directory: directory)
        let cache = try cache(manager)
        let foundation = NSCache<NSNumber, NSNumber>()
        let key = NSNumber(value: 1)
        foundation.setObject(NSNumber(value: 1), forKey: key)
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            time { _ in foundation.object(forKey: key) == nil ? 0 : 1 }
        } ours: {
            try time { _ in try cache.withValue { $0.number } }
        }
        return BenchResult(.hotReadAgainstNSCache, value: ours, limit: limit)
    }

    private func keyed() throws -> [BenchResult] {
        let manager = try BenchManager.make(directory: directory)
        let caches = try ["keyed", "another"].map {
            try manager.root.keyedCache($0, key: UInt64.self, value: BenchValue.self)
        }
        let cache = caches[0]
        var dictionary: [UInt64: BenchValue] = [:]
        for key in 0..<UInt64(Self.keys) {
            for cache in caches { cache.set(BenchValue(number: key), for: key) }
            dictionary[key] = BenchValue(number: key)
        }
        let guarded = Mutex(dictionary)
        var random = SplitMix64(seed: 1)
        let order = (0..<Self.keys).map { _ in random.next() % UInt64(Self.keys) }
        let hit = try BenchTiming.medians(plan.rounds) {
            time { step in guarded.withLock { $0[order[step & (Self.keys - 1)]]?.number ?? 0 } }
        } ours: {
            try time { step in try cache.withValue(for: order[step & (Self.keys - 1)]) { $0.number } }
        }
        let apart = try BenchTiming.medians(plan.rounds) {
            try throughputApart(dictionary, order, threads: 1)
        } ours: {
            try throughputApart(dictionary, order, threads: 2)
        }
        let threads = try BenchTiming.medians(plan.rounds) {
            try throughput(of: caches, order)
        } ours: {
            try throughput(of: [cache, cache], order)
        }
        return [
            BenchResult(.keyedHit, value: hit.ours, limit: hit.limit),
            BenchResult(.twoThreadsApart, value: apart.ours, limit: apart.limit),
            BenchResult(.keyedHitTwoThreads, value: threads.ours, limit: threads.limit),
        ]
    }

    /// Hits a second of all threads together, each in a dictionary of its own: what the machine gives.
    private func throughputApart(
        _ dictionary: [UInt64: BenchValue],
        _ order: [UInt64],
        threads: Int
    ) throws -> Double {
        let operations = plan.operations
        let seconds = try BenchTiming.seconds {
            try Blocking.parallel(threads) { thread in
                var own = dictionary
                // Its own storage, not one that both count references of.
                own.reserveCapacity(2 * own.count)
                let guarded = Mutex(own)
                var sum: UInt64 = 0
                for step in 0..<operations {
                    let key = order[(step &+ thread * 511) & (Self.keys - 1)]
                    sum &+= guarded.withLock { $0[key]?.number ?? 0 }
                }
                BenchTiming.consume(sum)
            }
        }
        return Double(threads * operations) / seconds
    }

    /// Hits a second of all threads together, one for each cache there is, be it the same.
    private func throughput(of caches: [KeyedCache<UInt64, BenchValue>], _ order: [UInt64]) throws -> Double {
        let operations = plan.operations
        let failures = RunFailures()
        let seconds = try BenchTiming.seconds {
            try Blocking.parallel(caches.count) { thread in
                do {
                    let cache = caches[thread]
                    var sum: UInt64 = 0
                    for step in 0..<operations {
                        // The threads go through the keys in different places of the same order.
                        let key = order[(step &+ thread * 511) & (Self.keys - 1)]
                        sum &+= try cache.withValue(for: key) { $0.number }
                    }
                    BenchTiming.consume(sum)
                } catch { failures.note(error) }
            }
        }
        try failures.rethrow()
        return Double(caches.count * operations) / seconds
    }

    /// The seconds of one operation. Inlined, so that what is measured is specialised as in an app's own loop.
    @inline(__always)
    private func time(_ operation: (Int) throws -> UInt64) rethrows -> Double {
        var sum: UInt64 = 0
        let seconds = try BenchTiming.seconds {
            for step in 0..<plan.operations { sum &+= try operation(step) }
        }
        BenchTiming.consume(sum)
        return seconds / Double(plan.operations)
    }
}
