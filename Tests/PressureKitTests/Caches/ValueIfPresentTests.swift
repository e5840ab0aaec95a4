import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Reading what there is, and nothing that would have to be loaded.
@Suite(.timeLimit(.minutes(5))) struct ValueIfPresentTests {
    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let manager: PressureManager
    let controller: PressureController
    let loads = Shared(0)
    /// Written, not dropped because making it again is quicker.
    let spilled = CacheOptions(supportedDispositions: [.keep, .spill])

    init() throws {
        manager = try makeManager(fileSystem: disk)
        controller = try addController("app", to: manager.root)
    }

    static func value(_ key: Int) -> [UInt8] { makeBytes(1000, seed: UInt64(key)) }

    private func cache(_ kind: LoaderKind) throws -> EitherKeyedCache {
        try controller.keyedCache("tiles", kind, options: spilled) { [loads] key in
            loads.change { $0 += 1 }
            return Self.value(key)
        }
    }

    @Test(arguments: LoaderKind.allCases)
    func whatIsSpilledIsRestoredAndWhatIsMissingIsNotLoaded(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        for key in 0..<10 { await cache.set(Self.value(key), key) }
        for key in 10..<20 { _ = try await cache.value(key) }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency(3) == .spilled && cache.residency(13) == .spilled)
        for key in 0..<20 { #expect(try await cache.valueIfPresent(key) == Self.value(key)) }
        #expect(cache.residency(3) == .resident)
        let before = cache.statistics()
        #expect(before.restores == 20 && before.hits == 0)
        for key in 0..<20 { #expect(try await cache.valueIfPresent(key) == Self.value(key)) }
        #expect(cache.statistics().hits == 20 && cache.statistics().restores == 20)
        for key in 20..<40 { #expect(try await cache.valueIfPresent(key) == nil) }
        #expect(cache.count() == 20, "a key that was asked for is not remembered")
        #expect(loads.value == 10 && cache.statistics().failures == 0)
    }

    @Test func withoutBlockingInACacheWhoseLoaderBlocks() async throws {
        let cache = try controller.keyedCache("notes", key: Int.self, value: [UInt8].self)
        let one = try controller.cache("one", initialValue: Self.value(7))
        for key in 0..<40 { cache.set(Self.value(key), for: key) }
        _ = await manager.simulateMemoryWarning(.critical)
        try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            for key in 0..<80 { group.addTask { try await cache.valueIfPresent(for: key / 2 + key % 2 * 1000) } }
            for try await value in group where value != nil { #expect(value?.count == 1000) }
        }
        #expect(cache.statistics.restores == 40)
        #expect(try await one.valueIfPresent() == Self.value(7))
        #expect(cache.entry.pins == 0 && one.entry.pins == 0)
    }

    @Test func ofOneValue() async throws {
        let cache = try controller.cache("mine", options: spilled) { [loads] () -> [UInt8] in
            loads.change { $0 += 1 }
            return Self.value(1)
        }
        let other = try controller.cache("other", options: spilled) { [loads] () async -> [UInt8] in
            await Task.yield()
            loads.change { $0 += 1 }
            return Self.value(2)
        }
        func blocking() throws -> [UInt8]? { try cache.valueIfPresent() }
        #expect(try blocking() == nil)
        #expect(try await cache.valueIfPresent() == nil)
        #expect(try await other.valueIfPresent() == nil)
        #expect(loads.value == 0)
        try cache.set(Self.value(1))
        try await other.loadIfNeeded()
        #expect(try blocking() == Self.value(1))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect([cache.residency, other.residency] == [.spilled, .spilled])
        #expect(try blocking() == Self.value(1))
        #expect(try await other.valueIfPresent() == Self.value(2))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(try await cache.valueIfPresent() == Self.value(1))
        try cache.invalidate()
        #expect(try blocking() == nil)
        #expect(loads.value == 1)
    }

    /// The loader is left alone also when the copy cannot be read: that is the next reader's business.
    @Test(arguments: LoaderKind.allCases)
    func aCopyThatCannotBeReadIsAnErrorAndStays(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        await cache.set(Self.value(1), 1)
        _ = try await cache.value(2)
        _ = await manager.simulateMemoryWarning(.critical)
        disk.set(.init(.error(EIO), on: .read))
        for key in [1, 2] {
            let error = await #expect(throws: PressureError.self) { try await cache.valueIfPresent(key) }
            #expect(error?.code == .restoreFailed && error?.path == "app/tiles[\(key)]")
            let isSaidToBeMade = error?.message.contains("loader makes the value again") ?? false
            #expect(isSaidToBeMade == (key == 2), "\(key): \(error?.message ?? "")")
            #expect(cache.contains(key) && cache.residency(key) == .spilled)
        }
        #expect(cache.statistics().failures == 2 && loads.value == 1)
        #expect(try await cache.value(2) == Self.value(2))
        #expect(loads.value == 2)
        disk.set(nil)
        #expect(try await cache.valueIfPresent(1) == Self.value(1))
    }

    /// Who waits beside such a reader has a loader.
    @Test(arguments: LoaderKind.allCases)
    func aReaderWhoWaitedForTheSameCopyHasTheValueLoaded(_ kind: LoaderKind) async throws {
        let cache = try cache(kind)
        _ = try await cache.value(2)
        _ = await manager.simulateMemoryWarning(.critical)
        disk.set(.init(.error(EIO), on: .read))
        let (isRead, gate) = (Gate(), Gate())
        disk.setInterceptor { call in
            guard call == .read else { return }
            isRead.arrive()
            gate.passBlocking()
        }
        let asking = Task { try await cache.valueIfPresent(2) }
        await isRead.untilArrivals(1)
        #expect(cache.residency(2) == .restoring && cache.contains(2))
        let readers = (0..<4).map { _ in Task { try await cache.value(2) } }
        for _ in 0..<200 { await Task.yield() }
        gate.open()
        let error = await #expect(throws: PressureError.self) { try await asking.value }
        #expect(error?.code == .restoreFailed)
        for reader in readers { #expect(try await reader.value == Self.value(2)) }
        #expect(loads.value == 2)
        disk.setInterceptor(nil)
        disk.set(nil)
    }

    /// It would wait for itself.
    @Test func fromInsideAnUpdateOfTheSameKeyItIsRefused() throws {
        let cache = try controller.keyedCache("notes", key: Int.self, value: [UInt8].self)
        cache.set([1], for: 1)
        try cache.update(for: 1) { _ in
            let error = #expect(throws: PressureError.self) { try cache.valueIfPresent(for: 1) }
            #expect(error?.code == .recursiveAccess)
        }
        #expect(try cache.valueIfPresent(for: 1) == [1])
    }

    /// A loader that looks whether its own value is there finds none.
    @Test(arguments: LoaderKind.allCases)
    func fromInsideTheLoaderOfTheSameKeyThereIsNone(_ kind: LoaderKind) async throws {
        let found = Shared<Bool?>(nil)
        let own = Shared<AsyncKeyedCache<Int, [UInt8]>?>(nil)
        let blocking = Shared<KeyedCache<Int, [UInt8]>?>(nil)
        switch kind {
        case .blocking:
            let cache = try controller.keyedCache("tiles") { (key: Int) throws -> [UInt8] in
                found.set(try blocking.value?.valueIfPresent(for: key) != nil)
                return Self.value(key)
            }
            blocking.set(cache)
            #expect(try await cache.value(for: 1) == Self.value(1))
        case .suspending:
            let cache = try controller.keyedCache("tiles") { (key: Int) async throws -> [UInt8] in
                let value = try await own.value?.valueIfPresent(for: key)
                found.set(value != nil)
                return Self.value(key)
            }
            own.set(cache)
            #expect(try await cache.value(for: 1) == Self.value(1))
        }
        #expect(found.value == false)
        own.set(nil)
        blocking.set(nil)
    }

    @Test func aReaderWhoIsCancelledLeaves() async throws {
        let cache = try controller.keyedCache("tiles", options: spilled) { (key: Int) async -> [UInt8] in
            Self.value(key)
        }
        try await cache.loadIfNeeded(for: 1)
        _ = await manager.simulateMemoryWarning(.critical)
        let (isRead, gate) = (Gate(), Gate())
        disk.setInterceptor { call in
            guard call == .read else { return }
            isRead.arrive()
            gate.passBlocking()
        }
        let reader = Task { try await cache.valueIfPresent(for: 1) }
        await isRead.untilArrivals(1)
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        gate.open()
        while cache.residency(for: 1) != .resident { await Task.yield() }
        #expect(try await cache.valueIfPresent(for: 1) == Self.value(1))
        #expect(cache.statistics.failures == 0)
        disk.setInterceptor(nil)
    }
}
