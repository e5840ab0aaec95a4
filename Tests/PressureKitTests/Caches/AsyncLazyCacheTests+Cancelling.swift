import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import PressureSystem

/// Readers who give up, and writers who come while a load is under way.
extension AsyncLazyCacheTests {
    /// Whoever began it, or joined.
    @Test(arguments: [0, 1]) func aCancelledReaderLeavesAtOnceAndTheLoadGoesOn(_ number: Int) async throws {
        let cache = try gated()
        var readers = [Task { try await cache.value() }]
        await untilWaiting(1, for: cache)
        readers.append(Task { try await cache.value() })
        await untilWaiting(2, for: cache)
        await gate.untilArrivals(1)
        readers[number].cancel()
        await #expect(throws: CancellationError.self) { try await readers[number].value }
        #expect(cache.residency == .loading)
        #expect(gate.waiting == 1, "the loader was cancelled")
        gate.open()
        #expect(try await readers[1 - number].value == [1])
        #expect(loads.value == 1)
        #expect(cache.entry.statistics.failures.load(ordering: .relaxed) == 0)
    }

    @Test func whenNobodyWaitsTheLoadIsCancelledAndTheNextAccessLoadsAnew() async throws {
        let cache = try gated()
        let readers = (0..<10).map { _ in Task { try await cache.value() } }
        await untilWaiting(10, for: cache)
        await gate.untilArrivals(1)
        for reader in readers { reader.cancel() }
        for reader in readers { await #expect(throws: CancellationError.self) { try await reader.value } }
        #expect(cache.residency == .unloaded)
        while gate.waiting > 0 { await Task.yield() }
        gate.open()
        #expect(try await cache.value() == [2])
        #expect(cache.entry.statistics.failures.load(ordering: .relaxed) == 0, "nobody asked, so nothing failed")
    }

    /// The slot is free although the loader that nobody waits for goes on.
    @Test func aLoaderThatDoesNotHeedItsCancellationKeepsNobodyWaiting() async throws {
        let (stuck, wasCancelled) = (Gate(), Shared(false))
        let cache = try controller.cache("value") { [loads] () async throws -> [UInt8] in
            let number = loads.change { count in
                count += 1
                return count
            }
            if number == 1 {
                await stuck.pass()
                wasCancelled.set(Task.isCancelled)
            }
            return [UInt8(number)]
        }
        let reader = Task { try await cache.value() }
        await stuck.untilArrivals(1)
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(try await cache.value() == [2])
        stuck.open()
        while !wasCancelled.value { await Task.yield() }
        #expect(try await cache.value() == [2], "what nobody waited for is not taken")
        #expect(cache.entry.state.pins == 0)
    }

    @Test func aReaderThatWasCancelledBeforeBeginsNothing() async throws {
        let cache = try gated()
        let reader = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await cache.value()
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(loads.value == 0)
        gate.open()
        _ = try await cache.value()
        let hit = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await cache.value()
        }
        hit.cancel()
        #expect(try await hit.value == [1], "what is there is there")
    }

    // MARK: Writing during a load

    @Test func whatIsSetDuringALoadIsWhatReadersGet() async throws {
        let cache = try gated()
        let reader = Task { try await cache.value() }
        await gate.untilArrivals(1)
        try await cache.set([42])
        #expect(try await reader.value == [42], "without waiting for the loader")
        while gate.waiting > 0 { await Task.yield() }
        gate.open()
        #expect(try await cache.value() == [42])
        #expect(loads.value == 1)
        #expect(cache.entry.state.pins == 0)
    }

    @Test func whoWaitsWhenAValueIsInvalidatedGetsANewOne() async throws {
        let cache = try gated()
        let reader = Task { try await cache.value() }
        await gate.untilArrivals(1)
        try cache.invalidate()
        await gate.untilArrivals(2)
        gate.open()
        #expect(try await reader.value == [2])
        #expect(loads.value == 2)
    }

    @Test func updateLoadsAndChanges() async throws {
        let cache = try gated()
        gate.open()
        #expect(
            try await cache.update { value in
                value.append(7)
                return value.count
            } == 2
        )
        #expect(try await cache.value() == [1, 7])
        let lease = try await cache.lease()
        try await cache.update { $0.append(8) }
        #expect(lease.value == [1, 7])
        #expect(try await cache.value() == [1, 7, 8])
        await #expect(throws: LoaderError(number: 3)) { try await cache.update { _ in throw LoaderError(number: 3) } }
        _ = consume lease
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .spilled, "no loader makes what was changed")
        #expect(try await cache.value() == [1, 7, 8])
    }

    /// No update is lost: writers suspend for each other.
    @Test func concurrentUpdatesAllCount() async throws {
        let cache = try controller.cache("counter") { [gate] in
            await gate.pass()
            return [Int](repeating: 0, count: 10)
        }
        gate.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        try await cache.update { value in for index in value.indices { value[index] += 1 } }
                        if try await cache.withValue({ Set($0).count }) != 1 { Issue.record("half an update was seen") }
                    }
                }
            }
            group.addTask { for _ in 0..<50 { _ = await manager.simulateMemoryWarning(.critical) } }
            try await group.waitForAll()
        }
        #expect(try await cache.value() == [Int](repeating: 800, count: 10))
    }
}
