import CLinuxShims
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// Readers, leases, writers, evictions and a failing disk at once, each read checked against what was written.
@Suite(.timeLimit(.minutes(15))) struct CacheStressTests {
    /// What the disk does meanwhile.
    static let rules: [FaultyFileSystem.Rule?] = [
        nil, .init(.error(EIO), on: .write, .every(7)), .init(.lyingWrite, on: .write, .every(5)),
        .init(.error(ENOSPC), on: .write, .every(9)), .init(.error(EIO), on: .read, .every(6)),
        .init(.bitFlip, on: .read, .every(4)), .init(.short, .every(2)),
    ]

    /// Every value that is read lies between the last one published before the read and the last one begun after it.
    /// That is more than monotonic: a value that was written is never missed, whatever was evicted in between.
    @Test(arguments: 0..<rules.count)
    func everyReadSeesWhatWasWritten(ruleNumber: Int) async throws {
        let seed = UInt64(ruleNumber) + 1
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: disk, workers: 2) { $0.clock = clock }
        let controllers = try (0..<2).map { try addController("\($0)", to: manager.root) }
        controllers[1].appear()
        let tracks = try (0..<4).map { try Track(number: $0, controller: controllers[$0 % 2]) }
        disk.set(Self.rules[ruleNumber])

        let threads = BlockingPool(threads: 6)
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<2 {
                group.addTask {
                    try? await threads.run {
                        var generator = SeededGenerator(seed: seed << 8 | UInt64(reader))
                        for _ in 0..<3000 { tracks.randomElement(using: &generator)!.read() }
                    }
                }
                group.addTask {
                    var generator = SeededGenerator(seed: seed << 8 | UInt64(reader + 10))
                    for _ in 0..<1000 { await tracks.randomElement(using: &generator)!.readWithLease() }
                }
            }
            for track in tracks {
                group.addTask {
                    let seed = seed << 8 | UInt64(track.number + 20)
                    var generator = SeededGenerator(seed: seed)
                    for round in 0..<100 {
                        try? await threads.run {
                            var generator = SeededGenerator(seed: seed << 16 | UInt64(round))
                            for _ in 0..<10 { track.write(&generator) }
                        }
                        // Past any pause that a failure has caused.
                        clock.advance(by: .seconds(61))
                        _ = await manager.reclaim(.bytes(Int.random(in: 0..<400_000, using: &generator)))
                    }
                }
            }
            group.addTask {
                for _ in 0..<40 {
                    _ = await manager.enterBackground()
                    _ = await manager.enterForeground()
                    _ = manager.snapshot()
                }
            }
        }
        let complaints = tracks.flatMap { $0.complaints.withLock { $0 } }
        #expect(complaints == [], "seed \(seed)")

        // Otherwise it would have tested little.
        let caches = manager.snapshot().controllers.flatMap(\.caches)
        #expect(caches.contains { $0.evictions > 0 } && caches.contains { $0.restores > 0 })

        // With a sound disk everything is there, and after the caches are gone the file is empty.
        disk.set(nil)
        for track in tracks { track.read(diskIsSound: true) }
        #expect(tracks.flatMap { $0.complaints.withLock { $0 } } == [], "seed \(seed)")
        #expect(manager.snapshot().controllers.flatMap(\.caches).map(\.pins) == [0, 0, 0, 0])
        for track in tracks { try track.cache.invalidate() }
        #expect(manager.snapshot().stored == .zero)
        #expect(manager.snapshot().copied == .zero)
    }

    /// No update is lost: every one changes what the one before it left.
    @Test func concurrentUpdatesAllCount() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("counter") { [Int](repeating: 0, count: 100) }
        let threads = BlockingPool(threads: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await threads.run {
                        for _ in 0..<100 {
                            try cache.update { value in for index in value.indices { value[index] += 1 } }
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<400 {
                    let lease = try await cache.lease()
                    if Set(lease.value).count != 1 { Issue.record("half an update was seen") }
                    await Task.yield()
                }
            }
            group.addTask { for _ in 0..<100 { _ = await manager.simulateMemoryWarning(.critical) } }
            try await group.waitForAll()
        }
        #expect(try await cache.value() == [Int](repeating: 400, count: 100))
    }

    /// An async reader's load does not begin before it has a thread: loaders may hold all threads of the pool and wait
    /// for the very value.
    @Test func loadersThatHoldEveryThreadMayReadWhatAnAsyncReaderAsksFor() async throws {
        let inside = Atomic<Int>(0)
        let gate = ConditionLock(false)
        let controller = PressureController("app")
        let index = try controller.cache("index") { [UInt8]([7]) }
        let pages = try (0..<32).map { number in
            try controller.cache("page \(number)") { () throws -> [UInt8] in
                inside.wrappingAdd(1, ordering: .sequentiallyConsistent)
                gate.wait { $0 ? () : nil }
                return try index.value()
            }
        }
        let readers = pages.map { page in Task { try await page.value() } }
        let poolThreads = max(4, Int(pk_usable_cpus()))
        while inside.load(ordering: .sequentiallyConsistent) < poolThreads { await Task.yield() }
        let reader = Task { try await index.value() }
        // A chance to begin too early.
        for _ in 0..<1000 where index.residency == .unloaded { await Task.yield() }
        gate.withLock { $0 = true }
        #expect(try await reader.value == [7])
        for reader in readers { #expect(try await reader.value == [7]) }
    }
}

/// A cache, and what may be read from it at each moment. One thread writes.
private final class Track: Sendable {
    struct LoaderError: Error {}

    let number: Int
    let cache: LazyCache<[Int]>
    let complaints = Lock<[String]>([])
    /// The last version that may be seen by now, and the one that must be.
    private let begun = Atomic<Int>(0)
    private let published = Atomic<Int>(0)

    init(number: Int, controller: PressureController) throws {
        self.number = number
        // Odd ones have a loader, which makes the version the writer wants next, and fails now and then.
        if number.isMultiple(of: 2) {
            cache = try controller.cache("\(number)", initialValue: Self.value(0))
        } else {
            let source = Source()
            cache = try controller.cache("\(number)") { try source.load() }
            self.source.withLock { $0 = source }
        }
    }

    private final class Source: Sendable {
        let version = Atomic<Int>(0)
        private let calls = Atomic<Int>(0)

        func load() throws -> [Int] {
            let version = version.load(ordering: .sequentiallyConsistent)
            if calls.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 9) { throw LoaderError() }
            return Track.value(version)
        }
    }

    private let source = Lock<Source?>(nil)

    /// The value of a version: its number, as often as its size says. Every 16th takes two chunks.
    private static func value(_ version: Int) -> [Int] { [Int](repeating: version, count: count(version)) }

    private static func count(_ version: Int) -> Int { version % 16 == 3 ? 40_000 : 8 + version % 7 * 64 }

    /// The version of a value, or `nil` if it is none.
    private static func version(of value: [Int]) -> Int? {
        guard let version = value.first, value.count == count(version) else { return nil }
        for index in stride(from: 0, to: value.count, by: 1 + value.count / 16) where value[index] != version {
            return nil
        }
        return value.last == version ? version : nil
    }

    private func complain(_ text: String) { complaints.withLock { $0.append("cache \(number): \(text)") } }

    private func check(_ value: [Int], from least: Int) {
        let most = begun.load(ordering: .sequentiallyConsistent)
        guard let version = Self.version(of: value) else {
            return complain("wrong bytes: \(value.first ?? -1), \(value.count) elements")
        }
        if version < least || version > most { complain("read \(version), which is not in \(least)...\(most)") }
    }

    /// Errors that the faults of this test explain.
    private func excuse(_ error: any Error) {
        if error is LoaderError { return }
        if let error = error as? PressureError, [.restoreFailed, .damagedCopy].contains(error.code) { return }
        complain("\(error)")
    }

    func read(diskIsSound: Bool = false) {
        let least = published.load(ordering: .sequentiallyConsistent)
        do {
            try cache.withValue { check($0, from: least) }
        } catch {
            if diskIsSound, error is PressureError { complain("lost: \(error)") } else { excuse(error) }
        }
        let again = published.load(ordering: .sequentiallyConsistent)
        cache.ifLoaded { check($0, from: again) }
    }

    func readWithLease() async {
        let least = published.load(ordering: .sequentiallyConsistent)
        do {
            let lease = try await cache.lease()
            check(lease.value, from: least)
            let before = lease.value
            await Task.yield()
            if lease.value != before { complain("a leased value changed") }
        } catch {
            excuse(error)
        }
    }

    func write(_ generator: inout SeededGenerator) {
        let next = begun.load(ordering: .sequentiallyConsistent) + 1
        begun.store(next, ordering: .sequentiallyConsistent)
        do {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                try cache.set(Self.value(next))
            case 1:
                guard let source = source.withLock({ $0 }) else { fallthrough }
                source.version.store(next, ordering: .sequentiallyConsistent)
                try cache.invalidate()
            default:
                let least = published.load(ordering: .sequentiallyConsistent)
                try cache.update { value in
                    check(value, from: least)
                    value = Self.value(next)
                }
            }
            published.store(next, ordering: .sequentiallyConsistent)
        } catch {
            excuse(error)
        }
    }
}
