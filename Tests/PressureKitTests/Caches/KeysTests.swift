import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Which keys there are, and taking all of them away, in caches with loaders of either kind.
@Suite(.timeLimit(.minutes(5))) struct KeysTests {
    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let manager: PressureManager
    let controller: PressureController
    let loads = Shared(0)

    init() throws {
        manager = try makeManager(fileSystem: disk)
        controller = try addController("app", to: manager.root)
    }

    static func value(_ key: Int, size: Int = 1000) -> [UInt8] { makeBytes(size, seed: UInt64(key)) }

    private func cache(
        _ kind: LoaderKind,
        gate: Gate? = nil,
        options: CacheOptions = .init()
    ) throws -> EitherKeyedCache {
        try controller.keyedCache("tiles", kind, options: options, gate: gate) { [loads] key in
            loads.change { $0 += 1 }
            return Self.value(key)
        }
    }

    // MARK: keys, contains(_:)

    @Test(arguments: LoaderKind.allCases)
    func theKeysAreThoseOfValuesInMemoryAndInCopies(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        #expect(cache.keys() == [] && !cache.contains(1))
        for key in 0..<100 { await cache.set(Self.value(key), key) }
        for key in 100..<110 { #expect(try await cache.value(key) == Self.value(key)) }
        #expect(cache.keys().sorted() == Array(0..<110))
        _ = await manager.simulateMemoryWarning(.critical)
        _ = try await cache.value(7)
        await cache.set(Self.value(200), 200)
        cache.invalidate(8)

        let (before, loaded) = (cache.statistics(), loads.value)
        let keys = cache.keys()
        #expect(keys.sorted() == (0..<300).filter { cache.residency($0) != .unloaded })
        #expect(Set(keys).isSuperset(of: Set(0..<100).subtracting([8])), "what was set is never dropped")
        for key in 0..<300 { #expect(cache.contains(key) == keys.contains(key), "\(key)") }
        #expect(cache.statistics() == before && loads.value == loaded)
        #expect(cache.residency(7) == .resident && cache.residency(9) == .spilled)
    }

    /// What is asked for in this way is no less likely to be evicted than before.
    @Test func askingForKeysIsNoUseOfTheirValues() async throws {
        let cache = try controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in 0..<20 { cache.set(Self.value(key), for: key) }
        _ = await manager.simulateMemoryWarning(.critical)
        for key in 0..<10 { try cache.loadIfNeeded(for: key) }
        let words = cache.entry.words
        for key in 0..<30 { #expect(cache.contains(key) == (key < 20)) }
        #expect(cache.keys.count == 20)
        #expect(cache.entry.words == words)
    }

    @Test(arguments: LoaderKind.allCases)
    func aKeyThatIsBeingLoadedHasNoValueYet(_ kind: LoaderKind) async throws {
        let gate = Gate()
        let cache = try cache(kind, gate: gate)
        let reader = Task { try await cache.value(1) }
        await gate.untilArrivals(1)
        #expect(cache.keys() == [] && !cache.contains(1))
        #expect(cache.residency(1) == .loading)
        #expect(try await cache.valueIfPresent(1) == nil, "it waits for no loader")
        gate.open()
        #expect(try await reader.value == Self.value(1))
        #expect(cache.keys() == [1] && cache.contains(1))
        #expect(loads.value == 1)
    }

    /// Keys that stay are in every snapshot, once, wherever their values are; of the others those that may be.
    @Test(arguments: LoaderKind.allCases)
    func keysWhileOthersAddAndRemove(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        for key in 0..<100 { await cache.set(Self.value(key), key) }
        let isOver = Shared(false)
        let manager = manager
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(number))
                    while !isOver.value {
                        let key = Int.random(in: 100..<300, using: &generator)
                        await cache.set(Self.value(key, size: 10), key)
                        cache.invalidate(Int.random(in: 100..<300, using: &generator))
                        // Held while it is set: its slot is another one afterwards.
                        let stable = Int.random(in: 0..<100, using: &generator)
                        try? await cache.hold(stable) { _ in await cache.set(Self.value(stable), stable) }
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                while !isOver.value { _ = await manager.simulateMemoryWarning(.critical) }
            }
            for _ in 0..<300 {
                let keys = cache.keys()
                let known = Set(keys)
                #expect(known.count == keys.count, "a key is in it twice")
                #expect(known.isSuperset(of: 0..<100) && known.isSubset(of: 0..<300))
                #expect(cache.contains(keys.count % 100))
                await Task.yield()
            }
            isOver.set(true)
        }
        for key in 0..<100 { #expect(try await cache.value(key) == Self.value(key)) }
    }

    // MARK: removeAll()

    @Test(arguments: LoaderKind.allCases)
    func removingAllTakesWhatIsInMemoryAndInCopiesAndLeavesReadersTheirValue(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        for key in 0..<100 { await cache.set(Self.value(key), key) }
        _ = await manager.simulateMemoryWarning(.critical)
        for key in 100..<150 { _ = try await cache.value(key) }
        try await cache.hold(5) { held in
            cache.removeAll()
            #expect(cache.keys() == [] && cache.count() == 0)
            #expect(cache.residentByteCount() == .bytes(1000), "one is still read")
            #expect(held == Self.value(5))
            let found = try await cache.valueIfPresent(5)
            #expect(found == nil)
            await cache.set([1], 5)
            #expect(held == Self.value(5))
        }
        #expect(cache.residentByteCount() == .bytes(1))
        #expect(manager.snapshot().copied == .zero && manager.snapshot().stored == .zero)
        #expect(try await cache.value(5) == [1])
        let before = loads.value
        #expect(try await cache.value(6) == Self.value(6))
        #expect(loads.value == before + 1, "what was set is the loader's again")
        cache.removeAll()
        cache.removeAll()
        #expect(cache.count() == 0 && cache.residentByteCount() == .zero)
    }

    /// As after `invalidate(for:)`: who waits for a load gets what is loaded anew.
    @Test(arguments: LoaderKind.allCases)
    func removingAllEndsNoReadersWait(_ kind: LoaderKind) async throws {
        let gate = Gate()
        let cache = try cache(kind, gate: gate)
        let reader = Task { try await cache.value(1) }
        await gate.untilArrivals(1)
        cache.removeAll()
        gate.open()
        #expect(try await reader.value == Self.value(1))
        // The load that was in vain may be the last to go on.
        while loads.value < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(loads.value == 2)
        #expect(cache.keys() == [1])
    }

    @Test(arguments: LoaderKind.allCases)
    func removingAllWhileOthersReadWriteAndEvict(_ kind: LoaderKind) async throws {
        let cache = try cache(kind, options: .init(limit: .bytes(30_000)))
        let manager = manager
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(number))
                    for round in 0..<400 {
                        let key = Int.random(in: 0..<60, using: &generator)
                        switch round % 8 {
                        case 0: await cache.set(Self.value(key), key)
                        case 1: if number == 0 { cache.removeAll() }
                        case 2:
                            let found = try? await cache.valueIfPresent(key)
                            if let found, found != Self.value(key) { Issue.record("a wrong value") }
                        default:
                            let found = try? await cache.value(key)
                            if found != Self.value(key) { Issue.record("\(key): \(found?.count ?? -1)") }
                        }
                    }
                }
            }
            group.addTask { for _ in 0..<20 { _ = await manager.simulateMemoryWarning(.critical) } }
        }
        cache.removeAll()
        // A load or restore that nobody waits for may still be about to end, and one that ends holds its copy until then.
        var snapshot = manager.snapshot()
        while snapshot.resident > .zero || snapshot.copied > .zero || snapshot.stored > .zero {
            try await Task.sleep(for: .milliseconds(1))
            snapshot = manager.snapshot()
        }
        #expect(cache.count() == 0)
        #expect(snapshot.controllers.flatMap(\.caches).allSatisfy { $0.pins == 0 && $0.failures == 0 })
    }
}
