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
    private func gated(_ name: String = "value") throws -> AsyncLazyCache<[UInt8]> {
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
    private func untilWaiting(_ count: Int, for cache: AsyncLazyCache<[UInt8]>) async {
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

    // MARK: Cancellation

    /// Whoever began it, or joined.
    @Test(arguments: [0, 1]) func aCancelledReaderLeavesAtOnceAndTheLoadGoesOn(_ number: Int) async throws {
        let cache = try gated()
        var readers = [Task { try await cache.value() }]
        await untilWaiting(1, for: cache)
        readers.append(Task { try await cache.value() })
        await untilWaiting(2, for: cache)
        await gate.untilArrivals(1)
        readers[number].cancel()
        await #expect(throws: CancellationError.self) { try await readers[number].value }
        #expect(cache.residency == .loading)
        #expect(gate.waiting == 1, "the loader was cancelled")
        gate.open()
        #expect(try await readers[1 - number].value == [1])
        #expect(loads.value == 1)
        #expect(cache.entry.statistics.failures.load(ordering: .relaxed) == 0)
    }

    @Test func whenNobodyWaitsTheLoadIsCancelledAndTheNextAccessLoadsAnew() async throws {
        let cache = try gated()
        let readers = (0..<10).map { _ in Task { try await cache.value() } }
        await untilWaiting(10, for: cache)
        await gate.untilArrivals(1)
        for reader in readers { reader.cancel() }
        for reader in readers { await #expect(throws: CancellationError.self) { try await reader.value } }
        #expect(cache.residency == .unloaded)
        while gate.waiting > 0 { await Task.yield() }
        gate.open()
        #expect(try await cache.value() == [2])
        #expect(cache.entry.statistics.failures.load(ordering: .relaxed) == 0, "nobody asked, so nothing failed")
    }

    /// The slot is free although the loader that nobody waits for goes on.
    @Test func aLoaderThatDoesNotHeedItsCancellationKeepsNobodyWaiting() async throws {
        let (stuck, wasCancelled) = (Gate(), Shared(false))
        let cache = try controller.cache("value") { [loads] () async throws -> [UInt8] in
            let number = loads.change { count in
                count += 1
                return count
            }
            if number == 1 {
                await stuck.pass()
                wasCancelled.set(Task.isCancelled)
            }
            return [UInt8(number)]
        }
        let reader = Task { try await cache.value() }
        await stuck.untilArrivals(1)
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(try await cache.value() == [2])
        stuck.open()
        while !wasCancelled.value { await Task.yield() }
        #expect(try await cache.value() == [2], "what nobody waited for is not taken")
        #expect(cache.entry.state.pins == 0)
    }

    @Test func aReaderThatWasCancelledBeforeBeginsNothing() async throws {
        let cache = try gated()
        let reader = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await cache.value()
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(loads.value == 0)
        gate.open()
        _ = try await cache.value()
        let hit = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await cache.value()
        }
        hit.cancel()
        #expect(try await hit.value == [1], "what is there is there")
    }

    // MARK: Writing during a load

    @Test func whatIsSetDuringALoadIsWhatReadersGet() async throws {
        let cache = try gated()
        let reader = Task { try await cache.value() }
        await gate.untilArrivals(1)
        try await cache.set([42])
        #expect(try await reader.value == [42], "without waiting for the loader")
        while gate.waiting > 0 { await Task.yield() }
        gate.open()
        #expect(try await cache.value() == [42])
        #expect(loads.value == 1)
        #expect(cache.entry.state.pins == 0)
    }

    @Test func whoWaitsWhenAValueIsInvalidatedGetsANewOne() async throws {
        let cache = try gated()
        let reader = Task { try await cache.value() }
        await gate.untilArrivals(1)
        try cache.invalidate()
        await gate.untilArrivals(2)
        gate.open()
        #expect(try await reader.value == [2])
        #expect(loads.value == 2)
    }

    @Test func updateLoadsAndChanges() async throws {
        let cache = try gated()
        gate.open()
        #expect(
            try await cache.update { value in
                value.append(7)
                return value.count
            } == 2
        )
        #expect(try await cache.value() == [1, 7])
        let lease = try await cache.lease()
        try await cache.update { $0.append(8) }
        #expect(lease.value == [1, 7])
        #expect(try await cache.value() == [1, 7, 8])
        await #expect(throws: LoaderError(number: 3)) { try await cache.update { _ in throw LoaderError(number: 3) } }
        _ = consume lease
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .spilled, "no loader makes what was changed")
        #expect(try await cache.value() == [1, 7, 8])
    }

    /// No update is lost: writers suspend for each other.
    @Test func concurrentUpdatesAllCount() async throws {
        let cache = try controller.cache("counter") { [gate] in
            await gate.pass()
            return [Int](repeating: 0, count: 10)
        }
        gate.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<100 {
                        try await cache.update { value in for index in value.indices { value[index] += 1 } }
                        if try await cache.withValue({ Set($0).count }) != 1 { Issue.record("half an update was seen") }
                    }
                }
            }
            group.addTask { for _ in 0..<50 { _ = await manager.simulateMemoryWarning(.critical) } }
            try await group.waitForAll()
        }
        #expect(try await cache.value() == [Int](repeating: 800, count: 10))
    }

    // MARK: Failures

    @Test func aThrowingLoaderPassesItsErrorToEveryWaiterAndIsTriedAgain() async throws {
        let failures = Shared<[ResourceFailure]>([])
        let cache = try controller.cache("value") { [loads, gate] () async throws -> [UInt8] in
            let number = loads.change { count in
                count += 1
                return count
            }
            await gate.pass()
            if number == 1 { throw LoaderError(number: number) }
            return [9]
        }
        cache.onFailure { failure in
            failures.change { $0.append(failure) }
            return true
        }
        let readers = (0..<50).map { _ in Task { try await cache.value() } }
        await untilWaiting(50, for: cache)
        gate.open()
        for reader in readers { await #expect(throws: LoaderError(number: 1)) { try await reader.value } }
        #expect(loads.value == 1)
        // The readers wake first.
        while failures.value.isEmpty { await Task.yield() }
        #expect(failures.value.map(\.kind) == [.load])
        #expect(failures.value.map(\.resource.path) == ["app/value"])
        #expect(cache.residency == .unloaded)
        #expect(try await cache.value() == [9])
    }

    /// It climbs from the cache to the manager, as others do.
    @Test func aFailureThatNobodyHandlesClimbsToTheManager() async throws {
        final class Delegate: PressureManagerDelegate {
            let paths = Shared<[String]>([])
            func handle(_ failure: ResourceFailure) -> Bool {
                paths.change { $0.append(failure.resource.path) }
                return true
            }
        }
        let delegate = Delegate()
        manager.delegate = delegate
        let cache = try controller.cache("value") { [gate] () async throws -> [UInt8] in
            await gate.pass()
            throw LoaderError(number: 1)
        }
        gate.open()
        await #expect(throws: LoaderError(number: 1)) { try await cache.value() }
        // The reader wakes first.
        while delegate.paths.value.isEmpty { await Task.yield() }
        #expect(delegate.paths.value == ["app/value"])
    }

    /// A loader that reads its own cache would wait for itself, for ever: itself, in a child task, in a task that it
    /// waits for, through another cache.
    @Test(arguments: 0..<4) func aLoaderThatReadsItsOwnCacheIsToldSo(_ way: Int) async throws {
        let caches = Shared<[AsyncLazyCache<[UInt8]>]>([])
        let first = try controller.cache("first") { () async throws -> [UInt8] in
            let (first, second) = (caches.value[0], caches.value[1])
            switch way {
            case 0: return try await first.value()
            case 1:
                async let value = first.value()
                return try await value
            case 2: return try await Task { try await first.value() }.value
            default: return try await second.value()
            }
        }
        let second = try controller.cache("second") { () async throws -> [UInt8] in try await caches.value[0].value() }
        caches.set([first, second])
        let error = await #expect(throws: PressureError.self) { try await first.value() }
        #expect(error?.code == .recursiveAccess)
        // Of two that wait for each other, the one that begins to wait last is told.
        #expect(error?.path == "app/first" || way == 3 && error?.path == "app/second")
        caches.set([])
    }

    /// Loaders that wait for each other, each begun by somebody else: without a look at who waits for whom they would for
    /// ever. A ring of two, and of five.
    @Test(arguments: [2, 5]) func aCircleOfLoadersEndsInAnError(_ count: Int) async throws {
        let caches = Shared<[AsyncLazyCache<[UInt8]>]>([])
        let ring = try (0..<count).map { number in
            try controller.cache("\(number)") { [gate] () async throws -> [UInt8] in
                await gate.pass()
                return try await caches.value[(number + 1) % count].value()
            }
        }
        caches.set(ring)
        let readers = ring.map { cache in Task { try await cache.value() } }
        await gate.untilArrivals(count)
        gate.open()
        for reader in readers {
            let error = await #expect(throws: PressureError.self) { try await reader.value }
            #expect(error?.code == .recursiveAccess)
        }
        caches.set([])
    }

    /// A tree of loaders is none: many that wait for one, and one that waits for many.
    @Test func loadersMayReadOtherCaches() async throws {
        let leaves = try (0..<8).map { number in
            try controller.cache("leaf \(number)") { [gate] in
                await gate.pass()
                return [UInt8(number)]
            }
        }
        let tops = try (0..<4).map { number in
            try controller.cache("top \(number)") { () async throws -> [UInt8] in
                try await withThrowingTaskGroup(of: [UInt8].self) { group in
                    for leaf in leaves { group.addTask { try await leaf.value() } }
                    return try await group.reduce(into: []) { $0 += $1 }.sorted()
                }
            }
        }
        let readers = tops.map { cache in Task { try await cache.value() } }
        await gate.untilArrivals(8)
        gate.open()
        for reader in readers { #expect(try await reader.value == Array(0..<8)) }
    }

    /// P6: the loader is called with nothing locked, so it may set the very value it is loading.
    @Test func aLoaderMaySetItsOwnCache() async throws {
        let slot = Shared<AsyncLazyCache<[UInt8]>?>(nil)
        let cache = try controller.cache("value") { () async throws -> [UInt8] in
            try await slot.value!.set([42])
            return [1]
        }
        slot.set(cache)
        // What was set came after the load began, so it is what readers see.
        #expect(try await cache.value() == [42])
        slot.set(nil)
    }

    // MARK: As other caches

    /// Dropped when loading is cheaper than writing and reading, spilled when it is not, as measured.
    @Test(arguments: [(Duration.zero, Residency.unloaded), (.seconds(5), .spilled)])
    func itLeavesMemoryInTheCheaperWay(_ cost: Duration, _ residency: Residency) async throws {
        let value = makeBytes(100_000, seed: 1)
        let cache = try controller.cache("value") { [clock, gate, loads] in
            loads.change { $0 += 1 }
            await gate.pass()
            clock.advance(by: cost)
            return value
        }
        gate.open()
        #expect(try await cache.value() == value)
        #expect(cache.entry.statistics.loadTime == cost)
        #expect(cache.entry.statistics.expectedFootprint == 100_000)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.claimed == .bytes(100_000))
        #expect(cache.residency == residency)
        let readers = (0..<20).map { _ in Task { try await cache.value() } }
        for reader in readers { #expect(try await reader.value == value) }
        #expect(loads.value == (residency == .spilled ? 1 : 2))
        #expect(cache.entry.statistics.restores.load(ordering: .relaxed) == (residency == .spilled ? 1 : 0))
        #expect(cache.entry.state.pins == 0)
    }

    /// P4: a copy that cannot be read is made again by the loader, once for all who wait.
    @Test func aDamagedCopyIsLoadedAgain() async throws {
        let value = makeBytes(100_000, seed: 1)
        let cache = try controller.cache("value") { [clock, gate, loads] in
            loads.change { $0 += 1 }
            await gate.pass()
            clock.advance(by: .seconds(5))
            return value
        }
        gate.open()
        _ = try await cache.value()
        _ = await manager.simulateMemoryWarning(.critical)
        try #require(cache.residency == .spilled)
        disk.set(.init(.bitFlip, on: .read))
        let readers = (0..<20).map { _ in Task { try await cache.value() } }
        for reader in readers { #expect(try await reader.value == value) }
        #expect(loads.value == 2)
        #expect(cache.entry.state.pins == 0)
    }

    /// And one that no loader makes stays where it is.
    @Test func aDamagedCopyOfWhatWasSetIsAnErrorForAllReaders() async throws {
        let cache = try gated()
        let value = makeBytes(100_000, seed: 1)
        try await cache.set(value)
        _ = await manager.simulateMemoryWarning(.critical)
        try #require(cache.residency == .spilled)
        disk.set(.init(.bitFlip, on: .read))
        let readers = (0..<20).map { _ in Task { try await cache.value() } }
        for reader in readers {
            let error = await #expect(throws: PressureError.self) { try await reader.value }
            #expect(error?.path == "app/value")
        }
        #expect(loads.value == 0)
        disk.set(nil)
        #expect(try await cache.value() == value)
    }

    @Test func aLighterValueIsLoadedWhileMemoryIsShort() async throws {
        let cache = try controller.cache(
            "picture",
            alternate: { [gate] in
                await gate.pass()
                return makeBytes(10, seed: 1)
            },
            loader: { [gate] in
                await gate.pass()
                return makeBytes(1000, seed: 1)
            }
        )
        gate.open()
        #expect(try await cache.withVariant { ($0.count, $1) } == (1000, .full))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .unloaded)
        await setLevel(.warning)
        #expect(try await cache.withVariant { ($0.count, $1) } == (10, .alternate))
        #expect(cache.variant == .alternate)
        let lease = try await cache.lease()
        await setLevel(.normal)
        while cache.variant != .full { await Task.yield() }
        #expect(try await cache.value() == makeBytes(1000, seed: 1))
        #expect(lease.value.count == 10, "who has the lighter one keeps it")
        #expect(cache.entry.state.isReloadable)
    }

    @Test func aLighterValueThatWasChangedStays() async throws {
        let cache = try controller.cache(
            "picture",
            alternate: { [gate] () async throws -> [UInt8] in
                await gate.pass()
                return [1]
            },
            loader: { [gate] in
                await gate.pass()
                return [1, 2, 3]
            }
        )
        gate.open()
        await setLevel(.critical)
        try await cache.update { $0.append(9) }
        await setLevel(.normal)
        try await cache.entry.bringFullBackSuspending()
        #expect(try await cache.value() == [1, 9])
    }

    /// Makes the level what is said, as the monitor would.
    private func setLevel(_ level: PressureLevel) async {
        let before = manager.context.scene.level
        let cause = PressureCause(origin: .simulated, source: "test", levelBefore: before, levelAfter: level)
        let decision = PressureDecision(cause: cause, score: 0, reclaim: nil)
        _ = await manager.perform(ReclaimRequest(decision, share: 0.25, context: manager.context))
    }

    /// Saved with the state, and restored from it: what was loading is left out, and no save waits for it.
    @Test func itIsSavedAndRestored() async throws {
        let disk = InMemoryFileSystem()
        func app() throws -> (PressureManager, AsyncLazyCache<[UInt8]>, AsyncKeyedCache<Int, [UInt8]>) {
            let manager = try makeManager(fileSystem: disk)
            let controller = try addController("app", to: manager.root)
            let one = try controller.cache("one") { [gate, loads] () async throws -> [UInt8] in
                loads.change { $0 += 1 }
                try await gate.passUnlessCancelled()
                return [1]
            }
            let many = try controller.keyedCache("many") { [gate, loads] (key: Int) in
                loads.change { $0 += 1 }
                try await gate.passUnlessCancelled()
                return [UInt8(key)]
            }
            return (manager, one, many)
        }
        let (first, one, many) = try app()
        try await one.set([7])
        for key in 0..<5 { await many.set([UInt8(key), 1], for: key) }
        let reader = Task { try await many.value(for: 9) }
        await gate.untilArrivals(1)
        _ = await first.simulateMemoryWarning(.critical)
        #expect(one.residency == .spilled && many.residency(for: 3) == .spilled)
        let report = try await first.saveState(to: "/var/tmp/state")
        #expect(Set(report.caches) == ["app/one", "app/many"])
        reader.cancel()
        _ = await reader.result
        await first.shutdown()
        disk.endProcess()

        let (second, oneAgain, manyAgain) = try app()
        _ = try await second.restoreState(from: "/var/tmp/state")
        #expect(oneAgain.residency == .spilled)
        #expect(try await oneAgain.value() == [7])
        #expect(manyAgain.count == 5)
        for key in 0..<5 { #expect(try await manyAgain.value(for: key) == [UInt8(key), 1]) }
        #expect(loads.value == 1, "none but the one that was left out")
        await second.shutdown()
    }

    /// What appears is restored ahead, and no loader runs for it.
    @Test(arguments: [false, true]) func whatAppearsComesBackBeforeItIsAskedFor(_ isSequential: Bool) async throws {
        let value = makeBytes(10_000, seed: 1)
        let spilled = try gated("spilled")
        let unloaded = try gated("unloaded")
        try await spilled.set(value)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(spilled.residency == .spilled)
        if isSequential {
            let report = await RestoreReport.inTurn([spilled.entry, unloaded.entry])
            #expect(report.failures.isEmpty)
        } else {
            controller.appear()
            while spilled.residency != .resident { await Task.yield() }
        }
        #expect(spilled.residency == .resident)
        #expect(unloaded.residency == .unloaded && loads.value == 0)
        #expect(try await spilled.value() == value)
    }

    @Test func expectNoLossFindsWhatAsyncCachesHave() async throws {
        let value = makeBytes(100_000, seed: 1)
        let cache = try controller.cache("value") { [gate, clock] in
            await gate.pass()
            clock.advance(by: .seconds(5))
            return value
        }
        gate.open()
        _ = try await cache.value()
        try await expectNoLoss(in: manager.root) { _ = await manager.simulateMemoryWarning(.critical) }
        #expect(cache.residency == .resident || cache.residency == .spilled)
    }
}

extension RestoreReport {
    /// As where one thing is done at a time, off the cooperative pool.
    fileprivate static func inTurn(_ entries: [CacheEntry]) async -> RestoreReport {
        await withCheckedContinuation { continuation in
            BlockingPool.errands.submit {
                continuation.resume(returning: RestoreReport(bringingBackInTurn: entries) { true })
            }
        }
    }
}
