import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

@Suite(.timeLimit(.minutes(15))) struct LazyCacheTests {
    struct LoaderError: Error, Equatable { var number: Int }

    let manager: PressureManager
    let controller: PressureController

    init() throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem())
        controller = try addController("app", to: manager.root)
    }

    // MARK: Loading

    @Test func loadsOnFirstAccessOnly() throws {
        let loads = Atomic<Int>(0)
        let cache = try controller.cache("value") { () -> [UInt8] in
            loads.wrappingAdd(1, ordering: .relaxed)
            return [1, 2, 3]
        }
        #expect(cache.residency == .unloaded)
        #expect(!cache.isLoaded)
        #expect(cache.ifLoaded { $0 } == nil)
        #expect(loads.load(ordering: .relaxed) == 0)
        #expect(try cache.value() == [1, 2, 3])
        #expect(try cache.value() == [1, 2, 3])
        #expect(cache.ifLoaded { $0 } == [1, 2, 3])
        #expect(loads.load(ordering: .relaxed) == 1)
        #expect(cache.isLoaded)
    }

    /// Any number of readers that arrive while the loader runs cause one load: the loader waits until all of them are
    /// asleep or about to be.
    @Test func manyReadersCauseOneLoad() async throws {
        let loads = Atomic<Int>(0)
        let gate = ConditionLock(false)
        let cache = try controller.cache("value") { () -> [UInt8] in
            loads.wrappingAdd(1, ordering: .relaxed)
            gate.wait { $0 ? () : nil }
            return [7]
        }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<20 {
                group.addTask {
                    if number.isMultiple(of: 2) { return try await cache.value() }
                    return try await BlockingPool(threads: 1).run { try cache.withValue { $0 } }
                }
            }
            while cache.residency != .loading { await Task.yield() }
            gate.withLock { $0 = true }
            for try await value in group { #expect(value == [7]) }
        }
        #expect(loads.load(ordering: .relaxed) == 1)
    }

    /// A waiter that falls asleep too late to be told of the failure loads anew: tried until one was in time.
    @Test func aThrowingLoaderPassesItsErrorToEveryWaiterAndIsTriedAgain() async throws {
        var isMeasured = false
        for round in 0..<1_000 where !isMeasured {
            let attempts = Shared(0)
            let gate = ConditionLock(false)
            let cache = try controller.cache("value \(round)") { () throws -> [UInt8] in
                let attempt = attempts.change { attempts in
                    attempts += 1
                    return attempts
                }
                if attempt == 1 {
                    gate.wait { $0 ? () : nil }
                    throw LoaderError(number: attempt)
                }
                return [9]
            }
            let reader = Task { try await cache.value() }
            while cache.residency != .loading { await Task.yield() }
            let waiter = Task { try await cache.value() }
            // About to fall asleep, or asleep.
            while !cache.entry.state.hasWaiters { await Task.yield() }
            gate.withLock { $0 = true }
            await #expect(throws: LoaderError(number: 1)) { try await reader.value }
            switch await waiter.result {
            case .success(let value): #expect(value == [9])
            case .failure(let error):
                #expect(error as? LoaderError == LoaderError(number: 1))
                #expect(cache.residency == .unloaded)
                isMeasured = true
            }
            #expect(try await cache.value() == [9])
        }
        #expect(isMeasured)
    }

    @Test func aCacheWithoutLoaderOrValueSaysSo() throws {
        let cache = try controller.cache("empty", of: [UInt8].self)
        let error = #expect(throws: PressureError.self) { try cache.value() }
        #expect(error?.code == .noValue)
        #expect(error?.path == "app/empty")
        try cache.set([1])
        #expect(try cache.value() == [1])
    }

    /// A loader that reads its own cache would wait for itself for ever.
    @Test func aLoaderThatReadsItsOwnCacheIsToldSo() throws {
        let slot = Lock<LazyCache<[UInt8]>?>(nil)
        let cache = try controller.cache("ouroboros") { () throws -> [UInt8] in
            try slot.withLock { $0 }!.value()
        }
        slot.withLock { $0 = cache }
        let error = #expect(throws: PressureError.self) { try cache.value() }
        #expect(error?.code == .recursiveAccess)
    }

    /// P6: the loader is called with nothing locked, so it may set the very value it is loading.
    @Test func aLoaderMaySetItsOwnCache() throws {
        let slot = Lock<LazyCache<[UInt8]>?>(nil)
        let cache = try controller.cache("value") { () throws -> [UInt8] in
            try slot.withLock { $0 }!.set([42])
            return [1]
        }
        slot.withLock { $0 = cache }
        // What was set came after the load began, so it is what readers see.
        #expect(try cache.value() == [42])
    }

    // MARK: Writing

    @Test func setReplacesTheValueAndItsCopy() async throws {
        let cache = try controller.cache("value", initialValue: makeBytes(10_000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .spilled)
        try cache.set([1, 2])
        #expect(cache.residency == .resident)
        #expect(cache.byteCount == .bytes(2))
        #expect(manager.snapshot().copied == .zero)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(try await cache.value() == [1, 2])
    }

    @Test func updateRestoresChangesAndMakesTheCopyInvalid() async throws {
        let cache = try controller.cache("value", initialValue: [UInt8](repeating: 1, count: 20_000))
        _ = await manager.simulateMemoryWarning(.critical)
        try cache.update { $0[0] = 9 }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.map(\.outcome) == [.spilled])
        #expect(try await cache.value().first == 9)
    }

    @Test func updateInPlaceDoesNotCopy() throws {
        let cache = try controller.cache("value", initialValue: [UInt8](repeating: 1, count: 1000))
        let before = try cache.withValue { unsafe $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        try cache.update { $0[1] = 2 }
        let after = try cache.withValue { unsafe $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
        #expect(before == after)
    }

    /// A reader keeps what it holds; a writer does not wait for it; later readers see the new value.
    @Test func aReaderKeepsItsValueWhileAnotherIsSet() throws {
        let cache = try controller.cache("value", initialValue: [UInt8]([1]))
        try cache.withValue { old in
            try cache.set([2])
            #expect(old == [1])
            #expect(try cache.value() == [2])
            try cache.update { $0.append(3) }
            #expect(old == [1])
        }
        #expect(try cache.value() == [2, 3])
    }

    @Test func anUpdateInsideAReadChangesACopy() throws {
        let cache = try controller.cache("value", initialValue: [UInt8]([1]))
        try cache.withValue { old in
            try cache.update { $0[0] = 5 }
            #expect(old == [1])
        }
        #expect(try cache.value() == [5])
    }

    @Test func anUpdateThatTouchesItsOwnCacheIsToldSo() throws {
        let cache = try controller.cache("value", initialValue: [UInt8]([1]))
        try cache.update { value in
            value[0] = 3
            let write = #expect(throws: PressureError.self) { try cache.set([4]) }
            #expect(write?.code == .recursiveAccess)
            let read = #expect(throws: PressureError.self) { try cache.loadIfNeeded() }
            #expect(read?.code == .recursiveAccess)
            #expect(cache.ifLoaded { $0 } == nil)
        }
        #expect(try cache.value() == [3])
    }

    @Test func anUpdateThatThrowsLeavesTheCacheUsable() throws {
        let cache = try controller.cache("value", initialValue: [UInt8]([1]))
        #expect(throws: LoaderError(number: 1)) {
            try cache.update { value in
                value.append(2)
                throw LoaderError(number: 1)
            }
        }
        #expect(try cache.value() == [1, 2])
        #expect(cache.byteCount == .bytes(2))
    }

    @Test func invalidateLoadsAnew() throws {
        let loads = Atomic<Int>(0)
        let cache = try controller.cache("value") { () -> [UInt8] in
            [UInt8(loads.wrappingAdd(1, ordering: .relaxed).newValue)]
        }
        #expect(try cache.value() == [1])
        try cache.invalidate()
        #expect(cache.residency == .unloaded)
        #expect(try cache.value() == [2])
    }

    @Test func invalidateDuringALoadDiscardsItsResult() async throws {
        let loads = Atomic<Int>(0)
        let gate = ConditionLock(false)
        let cache = try controller.cache("value") { () -> [UInt8] in
            let number = loads.wrappingAdd(1, ordering: .relaxed).newValue
            if number == 1 { gate.wait { $0 ? () : nil } }
            return [UInt8(number)]
        }
        let reader = Task { try await cache.value() }
        while cache.residency != .loading { await Task.yield() }
        try cache.invalidate()
        gate.withLock { $0 = true }
        // The reader asked for the value as it is, which is no longer what the first load made.
        #expect(try await reader.value == [2])
    }

    // MARK: Pins

    /// P2: a value in use is never moved, whatever is asked for.
    @Test func aPinnedValueIsSkippedAndNamed() async throws {
        let cache = try controller.cache("value", initialValue: makeBytes(100_000, seed: 3))
        let lease = try await cache.lease()
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.claimed == .zero)
        #expect(report.skipped.map(\.reason) == [.pinned])
        #expect(report.skipped.map(\.path) == ["app/value"])
        #expect(cache.isLoaded)
        #expect(lease.value.count == 100_000)
        _ = consume lease
        #expect(await manager.simulateMemoryWarning(.critical).claimed == .bytes(100_000))
    }

    @Test func aReplacedValueLivesAsLongAsItsLease() async throws {
        let cache = try controller.cache("value", initialValue: Tracked(1))
        let lease = try await cache.lease()
        try cache.set(Tracked(2))
        #expect(lease.value.number == 1)
        #expect(Tracked.alive(1))
        _ = consume lease
        #expect(!Tracked.alive(1))
        #expect(try await cache.value().number == 2)
    }
}

/// A value that knows whether it still exists.
private struct Tracked: Spillable {
    private final class Token: Sendable {
        static let alive = Lock<Set<Int>>([])
        let number: Int
        init(_ number: Int) {
            self.number = number
            Self.alive.withLock { _ = $0.insert(number) }
        }
        deinit { Self.alive.withLock { _ = $0.remove(number) } }
    }

    private let token: Token
    var number: Int { token.number }

    init(_ number: Int) { token = Token(number) }

    static func alive(_ number: Int) -> Bool { Token.alive.withLock { $0.contains(number) } }

    var spillByteCount: Int { 8 }
    func withSpillBytes(_ body: (RawSpan) -> Void) { [number].withSpillBytes(body) }
    init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        self.init(unsafe try [Int](spillByteCount: spillByteCount, restoringWith: fill)[0])
    }
}
