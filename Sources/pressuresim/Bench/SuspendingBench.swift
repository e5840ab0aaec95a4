import PressureKit

/// Reads of caches whose loaders suspend.
struct SuspendingBench {
    let plan: BenchPlan
    let directory: String

    private static let tasks = 64
    private static let latency = Duration.milliseconds(5)

    func run() throws -> [BenchResult] { [try hit(), try load()] }

    private func hit() throws -> BenchResult {
        let manager = try BenchManager.make(directory: directory)
        let blocking = try manager.root.cache("blocking", initialValue: BenchValue(number: 1))
        let suspending = try manager.root.cache("suspending") {
            await Task.yield()
            return BenchValue(number: 1)
        }
        let operations = plan.operations
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            let seconds = try BenchTiming.seconds {
                var sum: UInt64 = 0
                for _ in 0..<operations { sum &+= try blocking.withValue { $0.number } }
                BenchTiming.consume(sum)
            }
            return seconds / Double(operations)
        } ours: {
            try Blocking.wait {
                await Result.catching {
                    try await suspending.loadIfNeeded()
                    let seconds = try await BenchTiming.seconds {
                        var sum: UInt64 = 0
                        for _ in 0..<operations { sum &+= try await suspending.withValue { $0.number } }
                        BenchTiming.consume(sum)
                    }
                    return seconds / Double(operations)
                }
            }.get()
        }
        return BenchResult(.asyncHit, value: ours, limit: limit)
    }

    /// A thousand keys, each task with its own ones, against as many tasks that only sleep: timers are late, and not by the
    /// library.
    private func load() throws -> BenchResult {
        let manager = try BenchManager.make(directory: directory)
        let keys = min(1000, plan.operations)
        let (limit, ours) = try BenchTiming.medians(plan.rounds) {
            try time(keys) { _ in try await Task.sleep(for: Self.latency) }
        } ours: {
            let name = "loads"
            let cache = try manager.root.keyedCache(name) { (key: Int) in
                try await Task.sleep(for: Self.latency)
                return BenchValue(number: UInt64(key))
            }
            defer { manager.root.removeCache(cache) }
            return try time(keys) { key in try await cache.loadIfNeeded(for: key) }
        }
        return BenchResult(.asyncLoad, value: ours, limit: limit)
    }

    /// The seconds in which the tasks have done so much for all keys.
    private func time(_ keys: Int, _ work: @escaping @Sendable (Int) async throws -> Void) throws -> Double {
        try Blocking.wait {
            await Result.catching {
                try await BenchTiming.seconds {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for task in 0..<Self.tasks {
                            group.addTask {
                                for key in stride(from: task, to: keys, by: Self.tasks) { try await work(key) }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
        }.get()
    }
}

extension BenchTiming {
    /// The seconds `body` takes.
    static func seconds(_ body: () async throws -> Void) async rethrows -> Double {
        let clock = SystemClock()
        let start = clock.now()
        try await body()
        return (clock.now() - start).seconds
    }
}

extension Result where Failure == any Error {
    /// What `body` returns or throws.
    fileprivate static func catching(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
