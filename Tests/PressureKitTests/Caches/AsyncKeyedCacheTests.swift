import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import PressureSystem

/// Caches of many values whose loaders suspend, and getting many values at once.
@Suite(.timeLimit(.minutes(5))) struct AsyncKeyedCacheTests {
    struct LoaderError: Error, Equatable { var key: Int }

    let manager: PressureManager
    let controller: PressureController
    let loads = Shared<[Int: Int]>([:])
    let gate = Gate()

    init() throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem())
        controller = try addController("app", to: manager.root)
    }

    static func value(_ key: Int, size: Int = 1000) -> [UInt8] { makeBytes(size, seed: UInt64(key)) }

    private func gated(_ options: CacheOptions = .init()) throws -> AsyncKeyedCache<Int, [UInt8]> {
        try controller.keyedCache("tiles", options: options) { [loads, gate] (key: Int) in
            loads.change { $0[key, default: 0] += 1 }
            try await gate.passUnlessCancelled()
            if key < 0 { throw LoaderError(key: key) }
            return Self.value(key)
        }
    }

    @Test func loadsEachKeyOnce() async throws {
        let cache = try gated()
        gate.open()
        for _ in 0..<3 {
            for key in 0..<100 { #expect(try await cache.value(for: key) == Self.value(key)) }
        }
        #expect(loads.value.count == 100 && loads.value.values.allSatisfy { $0 == 1 })
        #expect(cache.count == 100)
        #expect(cache.residentByteCount == .bytes(100_000))
        #expect(cache.statistics.hits == 200)
        #expect(cache.statistics.loads == 100)
        #expect(cache.ifLoaded(for: 3) { $0 } == Self.value(3))
        #expect(cache.ifLoaded(for: 1000) { $0 } == nil)
        #expect(cache.name == "tiles" && cache.path == "app/tiles")
        #expect(cache.residency(for: 3) == .resident)
        cache.invalidate(for: 3)
        #expect(cache.residency(for: 3) == .unloaded && cache.count == 99)
        await cache.set([1], for: 3)
        try await cache.update(for: 3) { $0.append(2) }
        #expect(try await cache.lease(for: 3).value == [1, 2])
        controller.removeCache(cache)
        #expect(manager.snapshot().controllers.flatMap(\.caches).isEmpty)
    }

    /// P16: sixteen times as many loaders wait as the library's pools may ever have threads, and none of them has one.
    @Test func aThousandLoadersThatWaitOccupyNoThread() async throws {
        let cache = try gated()
        let others = try controller.keyedCache("notes", key: Int.self, value: [UInt8].self)
        others.set(Self.value(7), for: 7)
        _ = await manager.simulateMemoryWarning(.critical)
        let readers = (0..<64).map { number in
            Task {
                try await cache.values(for: (0..<1000).map { ($0 + number * 16) % 1000 }, atMost: 1000)
            }
        }
        await gate.untilArrivals(1000)
        // Who has come is about to wait.
        while gate.waiting < 1000 { await Task.yield() }
        #expect(BlockingPool.shared.threadCount + BlockingPool.restores.threadCount <= 128)
        // Restores and blocking loaders get their threads.
        #expect(try await others.value(for: 7) == Self.value(7))
        #expect(try await BlockingPool.shared.run { 1 } == 1)
        gate.open()
        for reader in readers { #expect(try await reader.value.count == 1000) }
        #expect(loads.value.count == 1000 && loads.value.values.allSatisfy { $0 == 1 })
        #expect(cache.entry.pins == 0)
        #expect(cache.entry.makings.withLock { $0.isEmpty })
    }

    /// Slots go from key to key, and errors do not go with them.
    @Test func aFailureIsItsOwnKeysOnly() async throws {
        let cache = try gated()
        gate.open()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                group.addTask {
                    for round in 0..<50 {
                        let key = (round + number) % 10 - 5
                        do {
                            let value = try await cache.value(for: key)
                            if value != Self.value(key) { Issue.record("another key's value") }
                        } catch {
                            if error as? LoaderError != LoaderError(key: key) { Issue.record("\(key): \(error)") }
                        }
                        if round.isMultiple(of: 5) { cache.invalidate(for: key) }
                    }
                }
            }
        }
        #expect(cache.entry.pins == 0)
        // Readers are told of a failure before its slot is given back.
        for _ in 0..<100_000 where cache.count > 5 { await Task.yield() }
        #expect(cache.count <= 5)
    }

    /// Readers that come and are cancelled, writers, evictions and a limit, all at once: everybody gets the right value or
    /// a cancellation, and nothing is left behind.
    @Test func readersThatLeaveDisturbNobody() async throws {
        let cache = try controller.keyedCache("tiles", options: .init(limit: .bytes(20_000))) { (key: Int) in
            for _ in 0..<key % 7 { await Task.yield() }
            try Task.checkCancellation()
            return Self.value(key)
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(number))
                    for _ in 0..<200 {
                        let key = Int.random(in: 0..<40, using: &generator)
                        let reader = Task { try await cache.value(for: key) }
                        let isCancelled = Int.random(in: 0..<3, using: &generator) == 0
                        for _ in 0..<Int.random(in: 0..<10, using: &generator) { await Task.yield() }
                        if isCancelled { reader.cancel() }
                        switch await reader.result {
                        case .success(let value): if value != Self.value(key) { Issue.record("a wrong value") }
                        case .failure(let error):
                            if !(error is CancellationError) || !isCancelled { Issue.record("\(key): \(error)") }
                        }
                    }
                }
            }
            group.addTask {
                for round in 0..<300 {
                    switch round % 3 {
                    case 0: cache.invalidate(for: round % 40)
                    case 1: await cache.set(Self.value(round % 40), for: round % 40)
                    default: try? await cache.update(for: round % 40) { $0 = Self.value(round % 40) }
                    }
                }
            }
            group.addTask { for _ in 0..<50 { _ = await manager.simulateMemoryWarning(.critical) } }
        }
        // A restore that has begun is ended even if nobody waits for it; and whoever brings a value in keeps to the limit.
        while !cache.entry.makings.withLock({ $0.isEmpty }) { await Task.yield() }
        while cache.residentByteCount > .bytes(20_000) || cache.entry.pins > 0 { await Task.yield() }
    }

    @Test func keepsToItsLimit() async throws {
        let cache = try gated(.init(limit: .bytes(10_000)))
        gate.open()
        for key in 0..<100 { try await cache.loadIfNeeded(for: key) }
        // A load's own task keeps to the limit as well, and may be about to let go of what it has written. One that did not is
        // found by the time limit.
        while cache.residentByteCount > .bytes(10_000) { await Task.yield() }
        for key in 0..<100 { await cache.set(Self.value(key), for: key) }
        #expect(cache.residentByteCount <= .bytes(10_000))
        #expect(cache.count == 100, "what was set is not dropped")
        for key in 0..<100 { #expect(try await cache.value(for: key) == Self.value(key)) }
    }

    // MARK: Many values at once

    @Test func manyValuesAreLoadedSideBySideAndEachOnce() async throws {
        let cache = try gated()
        await cache.set([9], for: 0)
        let reader = Task { try await cache.values(for: [1, 2, 3, 2, 1, 0, 3, 4, 5, 6], atMost: 4) }
        await gate.untilArrivals(4)
        for _ in 0..<100 { await Task.yield() }
        #expect(gate.arrivals == 4, "no more than that at a time")
        gate.open()
        let values = try await reader.value
        #expect(Set(values.keys) == Set(0...6))
        #expect(values[0] == [9])
        for key in 1...6 { #expect(values[key] == Self.value(key)) }
        #expect(loads.value == [1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1])
        #expect(try await cache.values(for: [Int]()).isEmpty)
    }

    @Test func theFirstErrorEndsItAndCancelsTheRest() async throws {
        let stuck = Gate()
        let cache = try controller.keyedCache("tiles") { (key: Int) in
            if key < 0 {
                await stuck.untilArrivals(3)
                throw LoaderError(key: key)
            }
            try await stuck.passUnlessCancelled()
            return Self.value(key)
        }
        await #expect(throws: LoaderError(key: -1)) { try await cache.values(for: [-1, 1, 2, 3], atMost: 4) }
        #expect(cache.keys == [])
        // The task whose loader threw forgets the key when its readers have been told.
        while cache.count > 0 { await Task.yield() }
        while stuck.waiting > 0 { await Task.yield() }
    }

    @Test func cancellingItCancelsItsLoads() async throws {
        let cache = try gated()
        let reader = Task { try await cache.values(for: 0..<10) }
        await gate.untilArrivals(10)
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(cache.count == 0)
        while gate.waiting > 0 { await Task.yield() }
    }

    /// With loaders that block: the same, on the library's threads.
    @Test func manyValuesOfACacheWhoseLoaderBlocks() async throws {
        let cache = try controller.keyedCache("tiles") { [loads] (key: Int) throws -> [UInt8] in
            loads.change { $0[key, default: 0] += 1 }
            if key < 0 { throw LoaderError(key: key) }
            return Self.value(key)
        }
        cache.set(Self.value(1), for: 1)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency(for: 1) == .spilled)
        let values = try await cache.values(for: (0..<50).map { $0 % 25 }, atMost: 3)
        #expect(values == Dictionary(uniqueKeysWithValues: (0..<25).map { ($0, Self.value($0)) }))
        #expect(loads.value.count == 24 && loads.value.values.allSatisfy { $0 == 1 })
        await #expect(throws: LoaderError(key: -2)) { try await cache.values(for: [1, -2]) }
    }
}
