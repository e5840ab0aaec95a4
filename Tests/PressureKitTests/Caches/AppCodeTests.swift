import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// P6 for the code that values and keys bring along: nothing is locked while it runs, so it may use the cache it is in.
@Suite(.timeLimit(.minutes(5))) struct AppCodeTests {
    /// What a value calls from its own code, once for each name.
    final class Meddler: Sendable {
        private let calls = Lock<[String: Int]>([:])
        private let meddle = Lock<(@Sendable (String) -> Void)?>(nil)

        func set(_ body: (@Sendable (String) -> Void)?) { meddle.withLock { $0 = body } }

        func called(_ name: String) {
            let count = calls.withLock { calls in
                calls[name, default: 0] += 1
                return calls[name]!
            }
            if count == 1 { meddle.withLock { $0 }?(name) }
        }

        func count(_ name: String) -> Int { calls.withLock { $0[name] ?? 0 } }

        func clear() { calls.withLock { $0 = [:] } }
    }

    /// A value whose every piece of code of the app's is told to a meddler.
    struct Meddling: Spillable {
        final class Life: Sendable {
            let meddler: Meddler
            init(_ meddler: Meddler) { self.meddler = meddler }
            deinit { meddler.called("deinit") }
        }

        let bytes: [UInt8]
        let life: Life?

        init(_ count: Int, _ meddler: Meddler) {
            bytes = [UInt8](repeating: 7, count: count)
            life = Life(meddler)
        }

        var spillByteCount: Int {
            life?.meddler.called("spillByteCount")
            return bytes.count
        }

        var footprint: Int {
            life?.meddler.called("footprint")
            return bytes.count
        }

        func withSpillBytes(_ body: (RawSpan) -> Void) {
            life?.meddler.called("withSpillBytes")
            bytes.withSpillBytes(body)
        }

        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            bytes = unsafe try [UInt8](spillByteCount: spillByteCount, restoringWith: fill)
            life = nil
        }
    }

    /// A key that tells of its end.
    struct Key: Hashable, Sendable {
        let number: Int
        let life: Meddling.Life?

        static func == (left: Key, right: Key) -> Bool { left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    static let names = ["footprint", "spillByteCount", "withSpillBytes", "deinit"]

    @Test(arguments: names) func aKeyedCacheMayBeUsedFrom(_ name: String) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("mine", key: Int.self, value: Meddling.self)
        let plain = Meddler()
        let meddler = Meddler()
        cache.set(Meddling(100, plain), for: 1)
        meddler.set { called in
            guard called == name else { return }
            // The key that is being written, its neighbours, and everything that takes all locks.
            for key in 0..<64 {
                _ = try? cache.withValue(for: key) { $0.bytes.count }
                cache.set(Meddling(50, plain), for: 1000 + key)
                cache.invalidate(for: 1000 + key)
            }
            _ = cache.statistics
            _ = manager.snapshot()
        }
        cache.set(Meddling(1000, meddler), for: 1)
        let lease = try await cache.lease(for: 1)
        // In use: into another slot.
        cache.set(Meddling(2000, meddler), for: 1)
        _ = consume lease
        _ = await manager.simulateMemoryWarning(.critical)
        let isSame = try cache.withValue(for: 1) { $0.bytes.count == 2000 }
        #expect(isSame)
        cache.set(Meddling(3000, meddler), for: 1)
        try cache.update(for: 1) { $0 = Meddling(4000, meddler) }
        cache.invalidate(for: 1)
        #expect(meddler.count(name) > 0, "\(name) was never called")
        await manager.shutdown()
    }

    @Test(arguments: names) func aCacheMayBeUsedFrom(_ name: String) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let plain = Meddler()
        let meddler = Meddler()
        let cache = try controller.cache("mine", initialValue: Meddling(100, plain))
        meddler.set { called in
            guard called == name else { return }
            _ = try? cache.withValue { $0.bytes.count }
            // `withSpillBytes` may run while the value is changed; then this is refused, not waited for.
            if name == "deinit" { try? cache.set(Meddling(50, plain)) }
            _ = manager.snapshot()
        }
        try cache.set(Meddling(1000, meddler))
        let lease = try await cache.lease()
        try cache.set(Meddling(2000, meddler))
        _ = consume lease
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(try cache.withValue { $0.bytes.count } > 0)
        try cache.set(Meddling(3000, meddler))
        try cache.invalidate()
        #expect(meddler.count(name) > 0, "\(name) was never called")
        await manager.shutdown()
    }

    /// A value that gives way in its own slot, and the one that takes its place, may write to their cache: it is nobody's
    /// turn any more when the one goes, and not yet when the other is measured.
    @Test(arguments: ["footprint", "spillByteCount", "deinit"]) func aCacheMayBeWrittenFrom(_ name: String) throws {
        let controller = PressureController("app")
        let (plain, meddler) = (Meddler(), Meddler())
        let single = try controller.cache("single", initialValue: Meddling(100, plain))
        let keyed = try controller.keyedCache("keyed", key: Int.self, value: Meddling.self)
        let done = Lock(0)
        meddler.set { called in
            guard called == name else { return }
            do {
                try single.set(Meddling(50, plain))
                keyed.set(Meddling(50, plain), for: 1)
                let bytes = try single.withValue { $0.bytes.count } + keyed.withValue(for: 1) { $0.bytes.count }
                #expect(bytes == 100)
                done.withLock { $0 += 1 }
            } catch {
                Issue.record("refused: \(error)")
            }
        }
        let writes: [(Meddler) throws -> Void] = [
            { try single.set(Meddling(1000, $0)) }, { keyed.set(Meddling(1000, $0), for: 1) },
        ]
        for write in writes {
            meddler.clear()
            done.withLock { $0 = 0 }
            try write(meddler)
            try write(plain)
            #expect(done.withLock { $0 } == 1, "\(name) was never called")
        }
    }

    /// A loader's value reads its own cache when it is measured: refused, as from the loader, and not waited for.
    @Test func aLoadedValueThatReadsItselfWhileItIsMeasuredIsRefused() throws {
        let meddler = Meddler()
        let controller = PressureController("app")
        let cache = try controller.cache("mine") { Meddling(1000, meddler) }
        let code = Lock<PressureError.Code?>(nil)
        meddler.set { name in
            guard name == "spillByteCount" else { return }
            do { try cache.loadIfNeeded() } catch { code.withLock { $0 = (error as? PressureError)?.code } }
        }
        try cache.loadIfNeeded()
        #expect(code.withLock { $0 } == .recursiveAccess)
        #expect(cache.isLoaded)
    }

    /// A value that calls out while it is made from its copy.
    struct Remembering: Spillable {
        static let restoring = Lock<(@Sendable () -> Void)?>(nil)

        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var spillByteCount: Int { bytes.count }

        func withSpillBytes(_ body: (RawSpan) -> Void) { bytes.withSpillBytes(body) }

        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            bytes = unsafe try [UInt8](spillByteCount: spillByteCount, restoringWith: fill)
            Self.restoring.withLock { $0 }?()
        }
    }

    /// The same while it is made from its copy, on whatever thread.
    @Test(.serialized, arguments: [false, true])
    func aRestoredValueThatReadsItselfIsRefused(suspends: Bool) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("mine", initialValue: Remembering([1, 2, 3]))
        let code = Lock<PressureError.Code?>(nil)
        Remembering.restoring.withLock { restoring in
            restoring = {
                do { try cache.loadIfNeeded() } catch { code.withLock { $0 = (error as? PressureError)?.code } }
            }
        }
        defer { Remembering.restoring.withLock { $0 = nil } }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .spilled)
        if suspends { _ = try await cache.value() } else { try cache.loadIfNeeded() }
        #expect(code.withLock { $0 } == .recursiveAccess)
        #expect(cache.ifLoaded { $0.bytes } == [1, 2, 3])
        await manager.shutdown()
    }

    @Test(.timeLimit(.minutes(1))) func aKeyMayUseTheCacheWhenItIsLetGo() async throws {
        // By this clock a load takes no time, so that the value is dropped, with its key, and not spilled.
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.clock = ManualClock() }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("mine") { (key: Key) in [UInt8](repeating: UInt8(key.number), count: 100)
        }
        let meddler = Meddler()
        meddler.set { _ in
            for number in 0..<64 { _ = cache.ifLoaded(for: Key(number: number, life: nil)) { $0.count } }
        }
        func load() throws { try cache.loadIfNeeded(for: Key(number: 1, life: Meddling.Life(meddler))) }
        try load()
        cache.invalidate(for: Key(number: 1, life: nil))
        #expect(meddler.count("deinit") == 1)
        meddler.clear()
        try load()
        // Dropped, not invalidated.
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(!cache.contains(Key(number: 1, life: nil)))
        // The thread that loaded it may hold it for a moment longer; one that is never let go is found by the time limit.
        while meddler.count("deinit") == 0 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(meddler.count("deinit") == 1)
        await manager.shutdown()
    }

    @Test func aValueIsMeasuredOnceForEachChange() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let meddler = Meddler()
        let keyed = try controller.keyedCache("keyed", key: Int.self, value: Meddling.self)
        let single = try controller.cache("single", initialValue: Meddling(10, meddler))
        let loaded = try controller.cache("loaded") { Meddling(10, meddler) }
        let changes: [(String, () throws -> Void)] = [
            ("set a new key", { keyed.set(Meddling(10, meddler), for: 1) }),
            ("set a known key", { keyed.set(Meddling(20, meddler), for: 1) }),
            ("update by key", { try keyed.update(for: 1) { $0 = Meddling(30, meddler) } }),
            ("set", { try single.set(Meddling(10, meddler)) }),
            ("update", { try single.update { $0 = Meddling(10, meddler) } }),
            ("update while in use", { try single.withValue { _ in try single.update { $0 = Meddling(10, meddler) } } }),
            ("load", { try loaded.loadIfNeeded() }),
        ]
        for (name, change) in changes {
            meddler.clear()
            try change()
            #expect(meddler.count("footprint") == 1, "\(name)")
            #expect(meddler.count("spillByteCount") == 1, "\(name)")
        }
        await manager.shutdown()
    }

    // MARK: Room

    /// Room in plans follows the number of slots, not the number of writes.
    @Test func writesToTheSameKeysReserveNoMoreRoom() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("mine", key: Int.self, value: [UInt8].self)
        let entry = cache.entry
        func slots() -> Int { entry.shards.sum { $0.slotCount } }
        // Absent keys of empty shards.
        for key in 0..<1000 { cache.invalidate(for: key) }
        #expect(entry.reservedRoom == 1)
        // Until a shard is exactly full, and all of them have been at some time.
        for key in 0..<2000 {
            cache.set([UInt8(truncatingIfNeeded: key)], for: key)
            for _ in 0..<3 {
                cache.set([1], for: key)
                cache.invalidate(for: -1 - key)
            }
            #expect(entry.reservedRoom == 1 + slots())
        }
        // Values in use get slots of their own.
        for key in 0..<2000 {
            try cache.withValue(for: key) { _ in
                cache.set([2], for: key)
                try cache.withValue(for: key) { _ in try cache.update(for: key) { $0.append(1) } }
            }
        }
        #expect(entry.reservedRoom == 1 + slots())
        #expect(slots() <= 2000 + 3 * 1024)
    }
}
