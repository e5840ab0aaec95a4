import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Changing a value that need not be there.
@Suite(.timeLimit(.minutes(5))) struct UpdateWithDefaultTests {
    struct Refused: Error, Equatable {}

    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let manager: PressureManager
    let controller: PressureController
    let loads = Shared(0)
    let defaults = Shared(0)

    init() throws {
        manager = try makeManager(fileSystem: disk)
        controller = try addController("app", to: manager.root)
    }

    private func cache(
        _ kind: LoaderKind,
        gate: Gate? = nil,
        options: CacheOptions = .init()
    ) throws -> EitherKeyedCache {
        try controller.keyedCache("notes", kind, options: options, gate: gate) { [loads] _ in
            loads.change { $0 += 1 }
            return [100]
        }
    }

    private func append(_ byte: UInt8, to key: Int, of cache: EitherKeyedCache) async throws {
        try await cache.update(
            key,
            { [defaults] in
                defaults.change { $0 += 1 }
                return []
            },
            { $0.append(byte) }
        )
    }

    @Test(arguments: LoaderKind.allCases)
    func whereThereIsNoneTheDefaultIsChangedAndTheLoaderLeftAlone(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        try await append(1, to: 1, of: cache)
        #expect(try await cache.value(1) == [1])
        try await append(2, to: 1, of: cache)
        #expect(defaults.value == 1, "there was one")
        // What a loader has made is changed too, and so is what is in a copy.
        _ = try await cache.value(2)
        try await append(2, to: 2, of: cache)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency(1) == .spilled && cache.residency(2) == .spilled, "neither is the loader's any more")
        try await append(3, to: 1, of: cache)
        try await append(3, to: 2, of: cache)
        #expect(try await cache.value(1) == [1, 2, 3])
        #expect(try await cache.value(2) == [100, 2, 3])
        // A reader keeps what it has.
        try await cache.hold(1) { held in
            try await append(4, to: 1, of: cache)
            #expect(held == [1, 2, 3])
        }
        #expect(try await cache.value(1) == [1, 2, 3, 4])
        cache.invalidate(1)
        try await append(9, to: 1, of: cache)
        #expect(try await cache.value(1) == [9])
        #expect(loads.value == 1 && defaults.value == 2)
    }

    @Test(arguments: LoaderKind.allCases)
    func whatThrowsLeavesAKeyWithoutAValueWithoutOne(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        await #expect(throws: Refused()) { try await cache.update(1, { throw Refused() }, { $0.append(1) }) }
        await #expect(throws: Refused()) {
            try await cache.update(1, { [] }) {
                $0.append(1)
                throw Refused()
            }
        }
        #expect(cache.count() == 0 && cache.residentByteCount() == .zero && loads.value == 0)
        // Of a value that is there, what was changed before stays changed, as with `update(for:_:)`.
        try await append(1, to: 1, of: cache)
        await #expect(throws: Refused()) {
            try await cache.update(1, { [] }) {
                $0.append(2)
                throw Refused()
            }
        }
        #expect(try await cache.value(1) == [1, 2])
        // A copy that cannot be read is no missing value.
        _ = await manager.simulateMemoryWarning(.critical)
        disk.set(.init(.error(EIO), on: .read))
        let error = await #expect(throws: PressureError.self) { try await append(3, to: 1, of: cache) }
        #expect(error?.code == .restoreFailed)
        disk.set(nil)
        #expect(try await cache.value(1) == [1, 2])
    }

    /// As after `set(_:for:)`: who waits for a load gets what came meanwhile.
    @Test(arguments: LoaderKind.allCases)
    func aLoadThatIsUnderWayIsNotWaitedFor(_ kind: LoaderKind) async throws {
        let gate = Gate()
        let cache = try cache(kind, gate: gate)
        let reader = Task { try await cache.value(1) }
        await gate.untilArrivals(1)
        try await append(7, to: 1, of: cache)
        #expect(cache.residency(1) == .resident)
        gate.open()
        #expect(try await reader.value == [7])
        try await append(8, to: 1, of: cache)
        #expect(try await cache.value(1) == [7, 8])
        while cache.residentByteCount() > .bytes(2) { await Task.yield() }
        #expect(defaults.value == 1)
    }

    /// Nothing is lost between those who create, those who change, and reclaims: all are counted.
    @Test(arguments: LoaderKind.allCases)
    func eightThreadsCountToTheSum(_ kind: LoaderKind) async throws {
        let cache = try cache(kind, options: .init(limit: .bytes(3000)))
        let (threads, rounds, keys) = (8, 400, 5)
        let manager = manager
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask {
                    for round in 0..<rounds {
                        try await append(UInt8(thread), to: (round + thread) % keys, of: cache)
                    }
                }
            }
            group.addTask { for _ in 0..<20 { _ = await manager.simulateMemoryWarning(.critical) } }
            try await group.waitForAll()
        }
        var counts = [UInt8: Int]()
        for key in 0..<keys { for byte in try await cache.value(key) { counts[byte, default: 0] += 1 } }
        #expect(counts == Dictionary(uniqueKeysWithValues: (0..<threads).map { (UInt8($0), rounds) }))
        #expect(loads.value == 0)
    }

    /// Keys that come into being and go all the time: of those who meet at an empty one, one creates it.
    @Test(arguments: LoaderKind.allCases)
    func creatorsThatMeetLoseNothing(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        for round in 0..<150 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for thread in 0..<8 { group.addTask { try await append(UInt8(thread), to: round, of: cache) } }
                try await group.waitForAll()
            }
            #expect(try await cache.value(round).sorted() == [0, 1, 2, 3, 4, 5, 6, 7])
        }
        #expect(loads.value == 0)
    }

    // MARK: One value

    @Test(arguments: LoaderKind.allCases) func ofOneValue(_ kind: LoaderKind) async throws {
        let gate = Gate()
        let append: @Sendable (UInt8) async throws -> Void
        let value: @Sendable () async throws -> [UInt8]
        let invalidate: @Sendable () throws -> Void
        switch kind {
        case .blocking:
            let cache = try controller.cache("one") { () -> [UInt8] in
                gate.passBlocking()
                return [100]
            }
            let pool = BlockingPool(threads: 8)
            append = { byte in try await pool.run { try cache.update(default: []) { $0.append(byte) } } }
            (value, invalidate) = ({ try await cache.value() }, { try cache.invalidate() })
        case .suspending:
            let cache = try controller.cache("one") { () async -> [UInt8] in
                await gate.pass()
                return [100]
            }
            append = { byte in try await cache.update(default: []) { $0.append(byte) } }
            (value, invalidate) = ({ try await cache.value() }, { try cache.invalidate() })
        }
        // Beside a load, which is not waited for.
        let reader = Task { try await value() }
        await gate.untilArrivals(1)
        try await append(1)
        gate.open()
        #expect(try await reader.value == [1])
        _ = await manager.simulateMemoryWarning(.critical)
        try await append(2)
        #expect(try await value() == [1, 2])
        try invalidate()
        let manager = manager
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask { for _ in 0..<200 { try await append(UInt8(thread)) } }
            }
            group.addTask { for _ in 0..<20 { _ = await manager.simulateMemoryWarning(.critical) } }
            try await group.waitForAll()
        }
        #expect(try await value().sorted() == (0..<8).flatMap { [UInt8](repeating: $0, count: 200) })
        for round in 0..<150 {
            try invalidate()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for thread in 0..<8 { group.addTask { try await append(UInt8(thread)) } }
                try await group.waitForAll()
            }
            #expect(try await value().sorted() == [0, 1, 2, 3, 4, 5, 6, 7], "\(round)")
        }
    }
}
