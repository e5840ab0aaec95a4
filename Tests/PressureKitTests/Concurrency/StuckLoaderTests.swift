import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSystem

/// Loaders that wait for something that does not come, such as a network, hold up nobody but their own readers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StuckLoaderTests {
    /// More loaders than there are ever threads for.
    @Test func restoresSavesAndShutdownGetThrough() async throws {
        let disk = InMemoryFileSystem()
        let manager = try makeManager(fileSystem: disk)
        let controller = try addController("app", to: manager.root)
        let inside = Shared(0)
        let gate = ConditionLock(false)
        let stuck = try (0..<100).map { number in
            try controller.cache("stuck \(number)") { () throws -> [UInt8] in
                inside.change { $0 += 1 }
                gate.wait { $0 ? () : nil }
                return [UInt8(number)]
            }
        }
        let value = makeBytes(300_000, seed: 1)
        let kept = try controller.cache("kept", initialValue: value)
        let notes = try controller.keyedCache(
            "notes",
            key: String.self,
            value: [UInt8].self,
            options: .init(limit: .kibibytes(64))
        )
        for number in 0..<8 { notes.set(makeBytes(20_000, seed: UInt64(number)), for: "\(number)") }
        _ = await manager.simulateMemoryWarning(.critical)
        try #require(kept.residency == .spilled)
        let readers = stuck.map { cache in Task { try await cache.value() } }
        while inside.value < 4 { await Task.yield() }

        #expect(try await kept.value() == value)
        for number in 0..<8 {
            #expect(try await notes.value(for: "\(number)") == makeBytes(20_000, seed: UInt64(number)))
        }
        controller.appear()
        _ = await manager.enterBackground()
        _ = await manager.enterForeground()
        #expect(kept.residency == .resident)
        _ = await manager.simulateMemoryWarning(.critical)
        controller.budget = .kibibytes(32)
        #expect(try await kept.value() == value)
        _ = await controller.attemptEviction()
        _ = try await manager.saveState(to: "/var/tmp/state")
        await manager.shutdown()

        #expect(inside.value <= 64)
        gate.withLock { $0 = true }
        for (number, reader) in readers.enumerated() { #expect(try await reader.value == [UInt8(number)]) }
    }

    /// A pool whose threads are stuck gets more of them, up to a bound.
    @Test func aPoolWhoseThreadsAreStuckGetsMore() async throws {
        let pool = BlockingPool(threads: 2, most: 6, patience: .milliseconds(1))
        let inside = Shared(0)
        let gate = ConditionLock(false)
        let stuck = (0..<5).map { _ in
            Task {
                try await pool.run {
                    inside.change { $0 += 1 }
                    gate.wait { $0 ? () : nil }
                }
            }
        }
        while inside.value < 5 { await Task.yield() }
        // The sixth thread does what there is, again and again.
        for number in 0..<20 { #expect(try await pool.run { number } == number) }
        let more = (0..<5).map { _ in
            Task {
                try await pool.run {
                    inside.change { $0 += 1 }
                    gate.wait { $0 ? () : nil }
                }
            }
        }
        while inside.value < 6 { await Task.yield() }
        for _ in 0..<1000 { await Task.yield() }
        #expect(pool.threadCount <= 6)
        gate.withLock { $0 = true }
        for task in stuck + more { try await task.value }
        #expect(inside.value == 10)
    }

    /// P10: no thread is kept for nothing.
    @Test func threadsThatHaveNothingToDoEnd() async throws {
        let pool = BlockingPool(threads: 4, patience: .milliseconds(1), rest: .milliseconds(1))
        for round in 0..<50 {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<16 { group.addTask { try await pool.run { number } } }
                let sum = try await group.reduce(0, +)
                #expect(sum == 120, "round \(round)")
            }
        }
        pool.waitUntilEmpty()
        #expect(pool.threadCount == 0)
        #expect(try await pool.run { 7 } == 7)
        pool.waitUntilEmpty()
    }
}
