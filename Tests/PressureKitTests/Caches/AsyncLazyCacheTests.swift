import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import PressureSystem

/// Caches whose loaders suspend.
@Suite(.timeLimit(.minutes(5))) struct AsyncLazyCacheTests {
    struct LoaderError: Error, Equatable { var number: Int }

    let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    let clock = ManualClock()
    let manager: PressureManager
    let controller: PressureController
    let loads = Shared(0)
    let gate = Gate()

    init() throws {
        manager = try makeManager(fileSystem: disk) { [clock] in $0.clock = clock }
        controller = try addController("app", to: manager.root)
    }

    /// A cache whose loader waits at the gate, and makes the number of the load.
    func gated(_ name: String = "value") throws -> AsyncLazyCache<[UInt8]> {
        try controller.cache(name) { [loads, gate] in
            let number = loads.change { count in
                count += 1
                return count
            }
            try await gate.passUnlessCancelled()
            return [UInt8(number)]
        }
    }

    /// Yields until so many readers wait for a load of the cache.
    func untilWaiting(_ count: Int, for cache: AsyncLazyCache<[UInt8]>) async {
        while cache.entry.makings.withLock({ $0.values.reduce(0) { $0 + $1.waiting } }) < count { await Task.yield() }
    }

    // MARK: Which kind of cache

    /// No annotation tells them apart, and what can only be awaited is only offered so.
    @Test func anAwaitInTheLoaderMakesTheDifference() async throws {
        @Sendable func fetch() async throws -> [UInt8] { [1] }
        @Sendable func make() throws -> [UInt8] { [2] }
        let one = try controller.cache("1") { [UInt8](repeating: 0, count: 3) }
        let two = try controller.cache("2") { try await fetch() }
        let three = try controller.cache("3") {
            let bytes = try make()
            return bytes + [1]
        }
        let four = try controller.cache("4") {
            let bytes = try await fetch()
            return bytes + [1]
        }
        let five = try controller.cache("5", loader: make)
        let six = try controller.cache("6", loader: fetch)
        let seven = try controller.cache("7", alternate: { [0] }) { try await fetch() }
        let eight = try controller.cache("8", alternate: { [UInt8]([0]) }) { try make() }
        let nine = try controller.keyedCache("9") { (key: Int) in [UInt8(key)] }
        let ten = try controller.keyedCache("10") { (key: Int) in try await fetch() + [UInt8(key)] }
        #expect(type(of: one) == LazyCache<[UInt8]>.self)
        #expect(type(of: two) == AsyncLazyCache<[UInt8]>.self)
        #expect(type(of: three) == LazyCache<[UInt8]>.self)
        #expect(type(of: four) == AsyncLazyCache<[UInt8]>.self)
        #expect(type(of: five) == LazyCache<[UInt8]>.self)
        #expect(type(of: six) == AsyncLazyCache<[UInt8]>.self)
        #expect(type(of: seven) == AsyncLazyCache<[UInt8]>.self)
        #expect(type(of: eight) == LazyCache<[UInt8]>.self)
        #expect(type(of: nine) == KeyedCache<Int, [UInt8]>.self)
        #expect(type(of: ten) == AsyncKeyedCache<Int, [UInt8]>.self)
        #expect(try await four.value() == [1, 1])
        #expect(try await ten.value(for: 7) == [1, 7])
        #expect(throws: PressureError.self) {
            try controller.cache("11", options: .init(limit: .bytes(1))) { try await fetch() }
        }
    }

    // MARK: One load

    @Test func loadsOnFirstAccessOnly() async throws {
        let cache = try gated()
        gate.open()
        #expect(cache.residency == .unloaded)
        #expect(cache.ifLoaded { $0 } == nil)
        #expect(try await cache.value() == [1])
        #expect(try await cache.withValue { $0 } == [1])
        #expect(cache.ifLoaded { $0 } == [1])
        #expect(try await cache.withVariant { $1 } == .full)
        #expect(cache.isLoaded)
        #expect(cache.byteCount == .bytes(1))
        #expect(cache.name == "value" && cache.path == "app/value")
        #expect(loads.value == 1)
        #expect(cache.entry.state.pins == 0)
        controller.removeCache(cache)
        #expect(manager.snapshot().controllers.flatMap(\.caches).isEmpty)
    }

    @Test func manyReadersCauseOneLoad() async throws {
        let cache = try gated()
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<100 {
                group.addTask {
                    if number.isMultiple(of: 2) { return try await cache.lease().value }
                    return try await cache.withValue { $0 }
                }
            }
            await untilWaiting(100, for: cache)
            #expect(cache.residency == .loading)
            gate.open()
            for try await value in group { #expect(value == [1]) }
        }
        #expect(loads.value == 1)
        #expect(cache.entry.state.pins == 0)
        #expect(cache.entry.makings.withLock { $0.isEmpty })
    }

    /// A value in memory is read where the reader is: no job is enqueued for it.
    @Test func aHitDoesNotSuspend() async throws {
        final class CountingExecutor: TaskExecutor {
            let jobs = Atomic<Int>(0)
            func enqueue(_ job: consuming ExecutorJob) {
                jobs.wrappingAdd(1, ordering: .relaxed)
                let job = UnownedJob(job)
                let executor = unsafe asUnownedTaskExecutor()
                // On a thread of its own, so that what is enqueued runs at all.
                BlockingPool.errands.submit { unsafe job.runSynchronously(on: executor) }
            }
        }
        gate.open()
        let cache = try gated()
        let keyed = try controller.keyedCache("keyed") { [gate] (key: Int) in
            await gate.pass()
            return [UInt8(key)]
        }
        _ = try await (cache.value(), keyed.value(for: 1))
        let executor = CountingExecutor()
        let jobs = try await Task(executorPreference: executor) {
            let before = executor.jobs.load(ordering: .relaxed)
            for _ in 0..<100 {
                _ = try await cache.withValue { $0.count }
                _ = try await cache.value()
                _ = try await keyed.withValue(for: 1) { $0.count }
                _ = try await keyed.values(for: [1])
            }
            return executor.jobs.load(ordering: .relaxed) - before
        }.value
        #expect(jobs == 0)
    }

    /// The load is as urgent as whoever came last and is in a hurry.
    @Test func aLoadIsAsUrgentAsTheMostUrgentWaiter() async throws {
        let began = Shared(TaskPriority?.none)
        let cache = try controller.cache("value") { [loads] () async throws -> [UInt8] in
            loads.change { $0 += 1 }
            began.set(Task.currentPriority)
            while Task.currentPriority < .high { await Task.yield() }
            return [1]
        }
        let slow = Task(priority: .background) { try await cache.value() }
        while loads.value == 0 { await Task.yield() }
        let fast = Task(priority: .high) { try await cache.value() }
        #expect(try await fast.value == [1])
        #expect(try await slow.value == [1])
        #expect(loads.value == 1)
    }

    /// The same for one that waits already and becomes more urgent.
    @Test func aWaiterThatBecomesUrgentTakesTheLoadWithIt() async throws {
        let cache = try controller.cache("value") { [loads] () async throws -> [UInt8] in
            loads.change { $0 += 1 }
            while Task.currentPriority < .high { await Task.yield() }
            return [1]
        }
        let reader = Task(priority: .background) { try await cache.value() }
        await untilWaiting(1, for: cache)
        while loads.value == 0 { await Task.yield() }
        reader.escalatePriority(to: .high)
        #expect(try await reader.value == [1])
    }
}
