import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Synchronization
import Testing

@testable import PressureKit

/// Reads without a pin: what is read stays, whoever wants it, and is let go once.
@Suite(.timeLimit(.minutes(5))) struct HazardTests {
    /// Something that says when it is gone.
    final class Witness: Sendable {
        static func value(_ gone: Counter) -> Witnessed { Witnessed(witness: Witness(gone)) }
        let gone: Counter
        init(_ gone: Counter) { self.gone = gone }
        deinit { gone.add() }
    }

    struct Witnessed: Spillable {
        let witness: Witness
        var spillByteCount: Int { 100 }
        func withSpillBytes(_ body: (RawSpan) -> Void) { [UInt8](repeating: 1, count: 100).withSpillBytes(body) }
        init(witness: Witness) { self.witness = witness }
        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            witness = Witness(Counter())
        }
    }

    final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        func add() { count.wrappingAdd(1, ordering: .relaxed) }
        var value: Int { count.load(ordering: .relaxed) }
    }

    final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    final class Flag: Sendable {
        private let flag = Atomic<Bool>(false)
        func set() { flag.store(true, ordering: .relaxed) }
        var isSet: Bool { flag.load(ordering: .relaxed) }
    }

    /// As many reads as one is drawn among, and some.
    static let enough = Int(HazardRecord.drawRange.upperBound) + 2

    private static func bias<Value>(_ cache: LazyCache<Value>) throws {
        for _ in 0..<enough { try cache.withValue { _ in } }
        try #require(cache.entry.state.isBiased)
    }

    @Test func whatIsReadOftenIsReadWithoutAWriteToItsSlot() throws {
        try #require(HazardScan.isPossible)
        let cache = try PressureController("app").cache("value", initialValue: [UInt8](repeating: 7, count: 10))
        #expect(!cache.entry.state.isBiased)
        try Self.bias(cache)
        let slot = cache.entry.slot
        let size = SlotHeader.copyOffset + MemoryLayout<SpillCopy>.size
        func bytes() -> [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: slot.base, count: size)) }
        try cache.withValue { _ in }
        let before = bytes()
        try cache.withValue { value in
            #expect(value.count == 10)
            #expect(bytes() == before, "not even while it is read")
            #expect(cache.entry.pins == 1, "and yet it is known to be in use")
        }
        #expect(bytes() == before)
        #expect(cache.entry.pins == 0)
    }

    @Test func aHitByKeyWritesNothingThatOthersRead() throws {
        let cache = try PressureController("app").keyedCache("values", key: Int.self, value: [UInt8].self)
        for key in 0..<100 { cache.set([UInt8](repeating: UInt8(key), count: 10), for: key) }
        for _ in 0..<Self.enough { try cache.withValue(for: 42) { _ in } }
        let shards = cache.entry.shards
        let size =
            KeyedShards<Int, [UInt8]>.frontsSize + KeyedShards<Int, [UInt8]>.count * KeyedShards<Int, [UInt8]>.stride
        func bytes() -> [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: shards.base, count: size)) }
        try cache.withValue(for: 42) { _ in }
        // Asks every shard, with its lock, which a ThreadSanitizer build writes a note into.
        let hits = cache.statistics.hits
        let before = bytes()
        try cache.withValue(for: 42) { value in
            #expect(value == [UInt8](repeating: 42, count: 10))
            #expect(bytes() == before)
            #expect(cache.entry.pins == 1)
            #expect(cache.entry.words.allSatisfy { $0.pins == 0 })
        }
        #expect(bytes() == before)
        #expect(cache.statistics.hits == hits + 1)
    }

    @Test func aValueThatIsReadIsNotEvicted() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: makeBytes(4096, seed: 1))
        try Self.bias(cache)
        let threads = BlockingPool(threads: 1)
        let isReading = ConditionLock(false)
        let mayEnd = ConditionLock(false)
        async let read: Void = threads.run {
            // A thread's first read has a pin.
            try cache.loadIfNeeded()
            try cache.withValue { value in
                isReading.withLock { $0 = true }
                mayEnd.wait { $0 ? () : nil }
                #expect(value == makeBytes(4096, seed: 1))
            }
        }
        try await BlockingPool(threads: 1).run { isReading.wait { $0 ? () : nil } }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(cache.isLoaded)
        #expect(report.evicted.isEmpty)
        #expect(cache.entry.state.pins == 1 && !cache.entry.state.isBiased, "counted now")
        mayEnd.withLock { $0 = true }
        try await read
        #expect(cache.entry.state.pins == 0)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .spilled)
        await manager.shutdown()
    }

    /// A read that replaces what it reads: the value stays until the read ends, and goes then, once.
    @Test(arguments: [1, 3, HazardRecord.placeCount + 2])
    func whatIsReplacedWhileItIsReadIsLetGoAtTheEnd(depth: Int) throws {
        let gone = Counter()
        let cache = try PressureController("app").cache("value", initialValue: Witness.value(gone))
        try Self.bias(cache)
        func read(_ depth: Int) throws {
            try cache.withValue { value in
                #expect(value.witness.gone === gone)
                if depth > 1 { return try read(depth - 1) }
                try cache.set(Witness.value(Counter()))
                #expect(gone.value == 0)
                try cache.withValue { #expect($0.witness.gone !== gone) }
            }
        }
        try read(depth)
        #expect(gone.value == 1)
        #expect(cache.entry.pins == 0)
    }

    @Test func aKeyStaysWhileItsValueIsRead() throws {
        let gone = Counter()
        let cache = try PressureController("app").keyedCache("values", key: Int.self, value: Witnessed.self)
        for key in 0..<10 { cache.set(Witness.value(gone), for: key) }
        for _ in 0..<Self.enough { try cache.withValue(for: 3) { _ in } }
        try cache.withValue(for: 3) { value in
            cache.invalidate(for: 3)
            #expect(!cache.contains(3))
            for key in 10..<2000 { cache.set(Witness.value(Counter()), for: key) }
            cache.removeAll()
            #expect(value.witness.gone === gone)
            #expect(gone.value == 9)
        }
        #expect(gone.value == 10)
        #expect(cache.count == 0)
    }

    /// A thread that has ended leaves its record to the next: as many as there were at once, not in all.
    @Test func recordsOfThreadsThatHaveEndedAreUsedAgain() throws {
        func records() -> Int {
            var count = 0
            HazardRecord.forEach { _ in count += 1 }
            return count
        }
        let cache = try PressureController("app").cache("value", initialValue: [UInt8](repeating: 1, count: 10))
        let before = records()
        for _ in 0..<50 {
            var thread = pthread_t()
            let work = unsafe Unmanaged.passRetained(Work { try? cache.withValue { _ in } })
            let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { work in
                unsafe Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
                return nil
            }
            unsafe pthread_create(&thread, nil, body, work.toOpaque())
            pthread_join(thread, nil)
        }
        #expect(records() - before <= 1)
    }

    /// Readers of few keys, while others replace and remove them, tables grow, and reclaims take what they find: nobody
    /// sees another key's value, or one that was replaced before it looked.
    @Test(arguments: [UInt64(1), 2])
    func readersSeeWhatWasWrittenWhateverElseHappens(seed: UInt64) async throws {
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.clock = clock }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("values", key: Int.self, value: [UInt64].self)
        let keys = 8
        let written = (0..<keys).map { _ in Published() }
        @Sendable func value(_ key: Int, _ version: UInt64) -> [UInt64] {
            [UInt64](repeating: UInt64(key) << 32 | version, count: 64)
        }
        for key in 0..<keys { cache.set(value(key, 0), for: key) }
        let isOver = Flag()
        let hits = Counter()
        let threads = BlockingPool(threads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<2 {
                group.addTask {
                    try await threads.run {
                        var generator = SeededGenerator(seed: seed << 8 | UInt64(reader))
                        while !isOver.isSet {
                            let key = Int.random(in: 0..<keys, using: &generator)
                            let least = written[key].version
                            cache.ifLoaded(for: key) { found in
                                if found[0] >> 32 != UInt64(key) || found[0] & 0xFFFF_FFFF < least
                                    || Set(found).count != 1
                                {
                                    Issue.record("key \(key): \(found[0]) after \(least)")
                                }
                                hits.add()
                            }
                        }
                    }
                }
            }
            group.addTask {
                defer { isOver.set() }
                for round in 1...60 {
                    try await threads.run {
                        var generator = SeededGenerator(seed: seed << 32 | UInt64(round))
                        for _ in 0..<50 {
                            let key = Int.random(in: 0..<keys, using: &generator)
                            let version = written[key].version + 1
                            switch Int.random(in: 0..<4, using: &generator) {
                            case 0:
                                cache.invalidate(for: key)
                                cache.set(value(key, version), for: key)
                            case 1: try cache.update(for: key) { $0 = value(key, version) }
                            default: cache.set(value(key, version), for: key)
                            }
                            written[key].publish(version)
                        }
                        // Tables grow, and what was added goes again.
                        for key in 0..<100 { cache.set([], for: 1000 + round * 100 + key) }
                        for key in 0..<100 where key % 8 != 0 { cache.invalidate(for: 1000 + round * 100 + key) }
                    }
                    clock.advance(by: .seconds(61))
                    _ = await manager.reclaim(.bytes(2000))
                }
            }
            try await group.waitForAll()
        }
        #expect(hits.value > 0)
        #expect(cache.entry.pins == 0)
        for key in 0..<keys { #expect(try await cache.value(for: key) == value(key, written[key].version)) }
        await manager.shutdown()
    }

    /// The last version that everybody may see.
    final class Published: Sendable {
        private let last = Atomic<UInt64>(0)
        var version: UInt64 { last.load(ordering: .acquiring) }
        func publish(_ version: UInt64) { last.store(version, ordering: .releasing) }
    }

    /// Hits of many threads all count, those with a line of their own and the others.
    @Test func hitsOfAllThreadsCount() async throws {
        let counts = HitCounts()
        defer { counts.deallocate() }
        let threads = BlockingPool(threads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in [UInt(0), 31, 32, 40] {
                group.addTask { try await threads.run { for _ in 0..<1000 { counts.add(by: number) } } }
            }
            try await group.waitForAll()
        }
        #expect(counts.sum == 4000)
    }
}
