import PressureKitTestSupport
import PressureKitTesting
import SpillStore
import Synchronization
import Testing

@testable import PressureKit

@Suite(.timeLimit(.minutes(15))) struct KeyedCacheTests {
    struct LoaderError: Error, Equatable {}

    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let manager: PressureManager
    let controller: PressureController

    init() throws {
        manager = try makeManager(fileSystem: disk)
        controller = try addController("app", to: manager.root)
    }

    /// The value that belongs to a key: readers can tell another key's. Nothing more is reserved than is used.
    static func value(_ key: Int, size: Int = 1000) -> [UInt8] {
        var value = [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: size)
        for byte in 0..<8 { value[size - 8 + byte] = UInt8(truncatingIfNeeded: key >> (byte * 8)) }
        return value
    }

    @Test func loadsEachKeyOnce() async throws {
        let loads = Atomic<Int>(0)
        let cache = try controller.keyedCache("tiles") { (key: Int) in
            loads.wrappingAdd(1, ordering: .relaxed)
            return Self.value(key)
        }
        for _ in 0..<3 {
            for key in 0..<500 { #expect(try await cache.value(for: key) == Self.value(key)) }
        }
        #expect(loads.load(ordering: .relaxed) == 500)
        #expect(cache.count == 500)
        #expect(cache.residentByteCount == .bytes(500_000))
        #expect(cache.statistics.hits == 1000)
        #expect(cache.statistics.loads == 500)
        #expect(cache.ifLoaded(for: 3) { $0 } == Self.value(3))
        #expect(cache.ifLoaded(for: 1000) { $0 } == nil)
        #expect(cache.count == 500)
    }

    @Test func valuesWithoutALoaderAreSpilledAndComeBack() async throws {
        let cache = try controller.keyedCache("notes", key: String.self, value: [UInt8].self)
        for key in 0..<200 { cache.set(Self.value(key), for: "note \(key)") }
        let lease = try await cache.lease(for: "note 7")
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.claimed == .bytes(199_000))
        #expect(report.skipped.map(\.reason) == [.pinned])
        #expect(cache.residentByteCount == .bytes(1000))
        #expect(cache.residency(for: "note 6") == .spilled)
        #expect(cache.residency(for: "note 7") == .resident)
        #expect(lease.value == Self.value(7))
        _ = consume lease
        for key in 0..<200 { #expect(try await cache.value(for: "note \(key)") == Self.value(key)) }
        #expect(cache.residentByteCount == .bytes(200_000))
        let error = #expect(throws: PressureError.self) { try cache.loadIfNeeded(for: "none") }
        #expect(error?.code == .noValue)
        #expect(error?.path == "app/notes[none]")
        #expect(cache.count == 200, "a key that could not be loaded is not remembered")
    }

    @Test func aThrowingLoaderIsAskedAgain() throws {
        let fails = Atomic<Bool>(true)
        let cache = try controller.keyedCache("tiles") { (key: Int) throws -> [UInt8] in
            if fails.load(ordering: .relaxed) { throw LoaderError() }
            return Self.value(key)
        }
        #expect(throws: LoaderError()) { try cache.loadIfNeeded(for: 1) }
        #expect(cache.count == 0)
        fails.store(false, ordering: .relaxed)
        #expect(try cache.withValue(for: 1) { $0 } == Self.value(1))
    }

    /// Above the limit values leave by SIEVE: those that were used stay.
    @Test func keepsToItsLimitAndKeepsWhatIsUsed() throws {
        let cache = try controller.keyedCache("tiles", options: .init(limit: .bytes(100_000))) { (key: Int) in
            Self.value(key)
        }
        for key in 0..<50 { try cache.loadIfNeeded(for: key) }
        for round in 0..<20 {
            for key in 0..<30 { try cache.loadIfNeeded(for: key) }
            for key in 0..<20 { try cache.loadIfNeeded(for: 1000 + round * 20 + key) }
            #expect(cache.residentByteCount <= .bytes(100_000))
        }
        #expect(cache.residentByteCount > .bytes(90_000))
        // 50 values at first, 400 used once; first in, first out loads each of the 30 used ones again every five rounds.
        let reloads = cache.statistics.loads - 450
        #expect(reloads <= 60, "the working set was evicted for values used once: \(reloads) loads")
    }

    /// A limit without a loader writes what it evicts.
    @Test func keepsToItsLimitWithoutLosingWhatCannotBeLoaded() async throws {
        let cache = try controller.keyedCache(
            "notes",
            key: Int.self,
            value: [UInt8].self,
            options: .init(limit: .bytes(20_000))
        )
        for key in 0..<100 { cache.set(Self.value(key), for: key) }
        #expect(cache.residentByteCount <= .bytes(20_000))
        #expect(cache.count == 100)
        for key in 0..<100 { #expect(try await cache.value(for: key) == Self.value(key)) }
        #expect(cache.statistics.restores >= 80)
        disk.set(.init(.error(28), on: .write))
        for key in 0..<100 { cache.set(Self.value(key + 1), for: key) }
        disk.set(nil)
        for key in 0..<100 { #expect(try await cache.value(for: key) == Self.value(key + 1)) }
    }

    @Test func writersDoNotDisturbReaders() async throws {
        let cache = try controller.keyedCache("notes", key: Int.self, value: [UInt8].self)
        cache.set([1], for: 1)
        try cache.withValue(for: 1) { old in
            cache.set([2], for: 1)
            #expect(old == [1])
            try cache.update(for: 1) { $0.append(3) }
            #expect(old == [1])
            cache.invalidate(for: 1)
            #expect(old == [1])
        }
        #expect(cache.count == 0)
        #expect(cache.residentByteCount == .zero)
        cache.set([4], for: 1)
        try cache.update(for: 1) { $0[0] = 5 }
        #expect(try await cache.value(for: 1) == [5])
    }

    @Test func aDroppedValueIsForgottenWithItsKey() async throws {
        let cache = try controller.keyedCache("tiles") { (key: Int) in Self.value(key) }
        for key in 0..<300 { try cache.loadIfNeeded(for: key) }
        disk.set(.init(.error(28), on: .write))
        _ = await manager.simulateMemoryWarning(.critical)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.count == 0)
        #expect(cache.residentByteCount == .zero)
        disk.set(nil)
        for key in 0..<300 { #expect(try await cache.value(for: key) == Self.value(key)) }
    }

    @Test func aReleasedCacheFreesItsCopies() async throws {
        do {
            let cache = try controller.keyedCache("notes", key: Int.self, value: [UInt8].self)
            for key in 0..<50 { cache.set(Self.value(key), for: key) }
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(manager.snapshot().copied == .bytes(50_000))
            controller.removeCache(cache)
        }
        #expect(manager.snapshot().copied == .zero)
        #expect(manager.snapshot().stored == .zero)
    }

    /// Bookkeeping for each value, key and value aside: DESIGN §7 allows 96 bytes, and 8 more remember one dropped key. What
    /// opens a sealed copy comes on top, with the trait. Of so many values that it matters little how many slots have none yet,
    /// which depends on how the keys are hashed.
    @Test func bookkeepingIsSmall() throws {
        let cache = try controller.keyedCache("tiles") { (key: Int) in [UInt8(truncatingIfNeeded: key)] }
        for count in [40_000, 60_000] {
            for key in 0..<count { try cache.loadIfNeeded(for: key) }
            let bytes = cache.entry.bookkeepingByteCount
            let own = MemoryLayout<Int>.size + MemoryLayout<[UInt8]>.size
            let each = Double(bytes) / Double(count) - Double(own)
            let ghosts = Double(cache.entry.shards.sum { $0.ghosts.byteCount }) / Double(count)
            #expect(each - ghosts <= Double(96 + MemoryLayout<FrameSeal>.size), "\(each) bytes a value at \(count)")
            // Slots come 32 at a time.
            #expect(ghosts <= 9, "\(ghosts) bytes a value at \(count)")
        }
    }

    /// Readers, writers and evictions at once, on few keys: every read is a value of its key.
    @Test(arguments: [UInt64(11), 12])
    func manyThreadsAtOnce(seed: UInt64) async throws {
        let cache = try controller.keyedCache("tiles", options: .init(limit: .bytes(30_000))) { (key: Int) in
            Self.value(key)
        }
        let manager = manager
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<6 {
                group.addTask {
                    try await BlockingPool(threads: 1).run {
                        var generator = SeededGenerator(seed: seed &+ UInt64(thread))
                        for _ in 0..<3000 {
                            let key = Int.random(in: 0..<60, using: &generator)
                            switch Int.random(in: 0..<20, using: &generator) {
                            case 0: cache.set(Self.value(key), for: key)
                            case 1: cache.invalidate(for: key)
                            case 2: try cache.update(for: key) { $0[0] = UInt8(truncatingIfNeeded: key) }
                            default:
                                try cache.withValue(for: key) { value in
                                    #expect(value == Self.value(key), "seed \(seed)")
                                }
                            }
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<30 { _ = await manager.simulateMemoryWarning(.critical) }
            }
            try await group.waitForAll()
        }
        #expect(cache.residentByteCount <= .bytes(30_000))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residentByteCount == .zero)
        for key in 0..<60 { #expect(try await cache.value(for: key) == Self.value(key)) }
    }
}

@Suite struct CountLimitTests {
    @Test func keepsToANumberOfValues() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("values", options: .init(countLimit: 10)) { (key: Int) in
            makeBytes(100, seed: UInt64(key))
        }
        for key in 0..<100 {
            #expect(try cache.value(for: key) == makeBytes(100, seed: UInt64(key)))
            #expect(cache.entry.residentCount.load(ordering: .relaxed) <= 10)
        }
        let resident = (0..<100).filter { cache.residency(for: $0) == .resident }
        #expect(resident.count == 10)
        cache.invalidate(for: resident[0])
        cache.set([1], for: resident[1])
        #expect(cache.entry.residentCount.load(ordering: .relaxed) == 9)
    }
}

@Suite struct GhostListTests {
    private static func ghosts(_ count: Int = 32) -> GhostList {
        var ghosts = GhostList()
        ghosts.reserve(count)
        return ghosts
    }

    @Test func remembersADroppedKeyOnce() {
        var ghosts = Self.ghosts()
        _ = ghosts.note(0xABCD_1234, at: 7)
        let other = ghosts.take(0xABCD_1235)
        #expect(other == nil)
        var ghost = ghosts.take(0xABCD_1234)
        #expect(ghost?.stamp == 7)
        ghost = ghosts.take(0xABCD_1234)
        #expect(ghost == nil)
    }

    /// Nothing is remembered without room, and nothing goes wrong.
    @Test func aListWithoutRoomIsEmpty() {
        var ghosts = GhostList()
        let lost = ghosts.note(1, at: 2)
        let ghost = ghosts.take(1)
        #expect(lost == nil && ghost == nil && ghosts.byteCount == 0)
    }

    @Test func remembersHowOftenAndWhenItWasUsed() {
        var ghosts = Self.ghosts()
        var uses = UseRecord.new
        let scale = UseScale(population: 4096)
        _ = uses.look(stamp: 128_000, arrival: 127_000, hits: 3, scale)
        #expect(uses.level > 28 && uses.level <= 32)
        for later in [0, 1, 4095] as [UInt16] {
            _ = ghosts.note(77, at: 9, uses, now: scale.unit(128_000))
            let ghost = ghosts.take(77, now: scale.unit(128_000) &+ later)
            #expect(ghost == GhostList.Ghost(stamp: 9, uses: uses))
        }
    }

    @Test func aNewerKeyTakesThePlaceOfAnOlderOne() {
        var ghosts = Self.ghosts(500)
        #expect(ghosts.byteCount == 500 * 8)
        var lost = 0
        var random = SeededGenerator(seed: 4)
        let hashes = (0..<10_000).map { _ in UInt32.random(in: 0 ... .max, using: &random) }
        for (number, hash) in hashes.enumerated() {
            if ghosts.note(hash, at: UInt32(number + 1)) != nil { lost += 1 }
        }
        var remembered = 0
        for (number, hash) in hashes.enumerated() {
            guard let ghost = ghosts.take(hash) else { continue }
            // Of 13 bits, so that one in 8,192 is taken for another.
            if ghost.stamp == number + 1 { remembered += 1 }
        }
        #expect(remembered > 400 && remembered <= 500)
        #expect(abs(10_000 - remembered - lost) < 10, "what is forgotten is told")
    }

    @Test func settingAKeyFromInsideItsUpdateEndsTheProcessInsteadOfWaitingForEver() async {
        await #expect(processExitsWith: .failure) {
            let manager = try makeManager(fileSystem: InMemoryFileSystem())
            let controller = try addController("app", to: manager.root)
            let cache = try controller.keyedCache("cache", key: Int.self, value: [UInt8].self)
            cache.set([1], for: 1)
            try cache.update(for: 1) { _ in cache.set([2], for: 1) }
        }
    }

    /// A dropped value leaves nothing in the table, and its return is a refault all the same.
    @Test func theReturnOfADroppedKeyIsARefault() async throws {
        // In no time, whatever else the machine does: sooner made than read back, so a reclaim drops it.
        let manager = try makeManager { $0.clock = ManualClock() }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("values") { (key: Int) in [UInt8(truncatingIfNeeded: key)] }
        try cache.loadIfNeeded(for: 1)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.count == 0)
        try cache.loadIfNeeded(for: 1)
        let snapshot = try #require(manager.snapshot().controllers.flatMap(\.caches).first)
        #expect(snapshot.evictions == 1)
        #expect(snapshot.refaults == 1)
        // Another one is none.
        try cache.loadIfNeeded(for: 2)
        #expect(manager.snapshot().controllers.flatMap(\.caches).first?.refaults == 1)
    }
}
