import Foundation
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// Working ahead, driven by hand: no thread, no waiting, time as the test says.
@Suite struct CleaningWorkerTests {
    /// A manager and a worker on a machine that is as busy as the test says.
    private struct Bench {
        let clock = ManualClock()
        let disk = InMemoryFileSystem()
        let faults: FaultyFileSystem
        let manager: PressureManager
        let controller: PressureController
        let worker: CleaningWorker
        let others: Shared<Int>
        /// How often it may still be told that all is calm.
        let patience: Shared<Int>

        init(rate: ByteCount = .mebibytes(1024), configure: (inout PressureConfiguration) -> Void = { _ in }) throws {
            let (clock, others, patience) = (clock, Shared(0), Shared(Int.max))
            faults = FaultyFileSystem(wrapping: disk)
            manager = try makeManager(fileSystem: faults) { configuration in
                configuration.clock = clock
                configure(&configuration)
            }
            controller = try addController("app", to: manager.root)
            worker = CleaningWorker(
                engine: manager.context.engine,
                root: manager.root,
                rate: rate,
                isUnpressured: {
                    patience.change {
                        $0 -= 1; return $0 >= 0
                    }
                },
                // Where there are others, somebody always waits.
                read: { BusyReading(time: $0, processorStall: others.value > 0 ? Int($0.nanoseconds / 1000) : 0) }
            )
            (self.others, self.patience) = (others, patience)
        }

        /// Lets everything there is become cold.
        func rest() {
            for _ in 0..<3 {
                worker.wake()
                clock.advance(by: ColdLine.interval)
            }
        }

        /// Steps until the worker sleeps or is asked to pause a hundred times.
        func work() {
            for _ in 0..<100 {
                guard let pause = worker.step() ?? nil else { return }
                clock.advance(by: pause)
            }
        }

        var engine: ReclaimEngine { manager.context.engine }
    }

    @Test func whatIsColdIsCopiedAndStaysWhereItIs() async throws {
        let bench = try Bench()
        let values = (0..<5).map { makeBytes(300_000, seed: UInt64($0)) }
        let caches = try values.enumerated().map {
            try bench.controller.cache("\($0.offset)", initialValue: $0.element)
        }
        #expect(bench.manager.snapshot().cleanFraction == 0)
        bench.rest()
        bench.work()
        #expect(caches.map(\.residency) == Array(repeating: .resident, count: 5))
        #expect(bench.manager.snapshot().cleanFraction == 1)
        #expect(bench.worker.copiedBytes.load(ordering: .relaxed) == 1_500_000)

        // The warning only frees.
        let writes = bench.faults.calls(.write)
        let report = await bench.manager.simulateMemoryWarning(.critical)
        #expect(Set(report.evicted.map(\.outcome)) == [.reused])
        #expect(report.claimed == .bytes(1_500_000))
        #expect(bench.faults.calls(.write) == writes)
        for (cache, value) in zip(caches, values) { #expect(try await cache.value() == value) }
    }

    @Test func whatWasUsedAMomentAgoIsLeftAlone() throws {
        let bench = try Bench()
        let hot = try bench.controller.cache("hot", initialValue: makeBytes(10_000, seed: 1))
        let cold = try bench.controller.cache("cold", initialValue: makeBytes(10_000, seed: 2))
        bench.rest()
        _ = UseClock.tick()
        try hot.withValue { _ in }
        bench.work()
        let caches = bench.manager.snapshot().controllers.flatMap(\.caches)
        #expect(caches.filter(\.hasCopy).map(\.path) == ["app/cold"])
        // Its turn comes.
        bench.rest()
        bench.work()
        #expect(bench.manager.snapshot().cleanFraction == 1)
        withExtendedLifetime(cold) {}
    }

    @Test func aChangeMakesItDirtyAgain() throws {
        let bench = try Bench()
        let cache = try bench.controller.cache("value", initialValue: makeBytes(10_000, seed: 1))
        bench.rest()
        bench.work()
        #expect(bench.manager.snapshot().cleanFraction == 1)
        try cache.update { $0[0] = 7 }
        #expect(bench.manager.snapshot().cleanFraction == 0)
        #expect(bench.engine.file.usage().frames == 0)
    }

    @Test func aWarningStopsItBetweenTwoChunks() throws {
        let bench = try Bench()
        let cache = try bench.controller.cache("large", initialValue: makeBytes(4 << 20, seed: 1))
        bench.rest()
        // Enough to begin, not enough to get through sixteen chunks.
        bench.patience.set(8)
        bench.work()
        #expect(cache.residency == .resident)
        #expect(bench.manager.snapshot().cleanFraction == 0)
        #expect(bench.engine.file.usage().frames == 0, "half a copy was kept")
    }

    @Test func aBusyMachineIsLeftAlone() throws {
        let bench = try Bench()
        let cache = try bench.controller.cache("value", initialValue: makeBytes(10_000, seed: 1))
        bench.others.set(64)
        bench.rest()
        bench.work()
        #expect(bench.manager.snapshot().cleanFraction == 0)
        bench.others.set(0)
        bench.work()
        #expect(bench.manager.snapshot().cleanFraction == 1)
        withExtendedLifetime(cache) {}
    }

    /// A container with its own processors, all of them busy: only its own waits tell. It tries, and then less and less
    /// often; as soon as nobody else wants them, it works on.
    @Test func heldUpItTriesLessAndLessOften() throws {
        let bench = try Bench()
        let caches = try (0..<64).map {
            try bench.controller.cache("\($0)", initialValue: makeBytes(1 << 20, seed: UInt64($0), randomBits: 1))
        }
        let busy = Shared(true)
        let copied = Shared<@Sendable () -> Int>({ 0 })
        let worker = CleaningWorker(
            engine: bench.engine,
            root: bench.manager.root,
            rate: .mebibytes(1024),
            isUnpressured: { true },
            // 16 ms of work a MiB, and as long a wait for it.
            read: { time in
                let ran = copied.value() >> 6
                return BusyReading(time: time, ran: ran, waited: busy.value ? ran : 0)
            }
        )
        copied.set { [weak worker] in worker?.copiedBytes.load(ordering: .relaxed) ?? 0 }
        for _ in 0..<3 {
            worker.wake()
            bench.clock.advance(by: ColdLine.interval)
        }
        func work(for duration: Duration) -> Int {
            let (end, before) = (bench.clock.now() + duration, copied.value())
            while bench.clock.now() < end {
                guard let pause = worker.step() ?? nil else { break }
                bench.clock.advance(by: pause)
            }
            return (copied.value() - before) >> 20
        }
        let first = work(for: .seconds(60))
        #expect(first > 2 && first < 12, "\(first) slices in the first minute")
        let second = work(for: .seconds(60))
        #expect(second > 3 && second < 8, "\(second) slices in the second")
        busy.set(false)
        _ = work(for: .seconds(60))
        #expect(bench.manager.snapshot().cleanFraction == 1)
        withExtendedLifetime(caches) {}
    }

    /// A value of many slices is given up when somebody comes to need the processors in the middle of it.
    @Test func looksAtTheMachineInTheMiddleOfALargeValue() throws {
        let bench = try Bench()
        let cache = try bench.controller.cache("large", initialValue: makeBytes(16 << 20, seed: 1, randomBits: 1))
        let looks = Shared(0)
        let worker = CleaningWorker(
            engine: bench.engine,
            root: bench.manager.root,
            rate: .mebibytes(1024),
            isUnpressured: { true },
            // The first look begins the count, the second finds nobody.
            read: { time in
                let look = looks.change {
                    $0 += 1; return $0
                }
                let stall = look > 2 ? look * 100_000 : 0
                return BusyReading(time: time + .milliseconds(100 * Int64(look)), processorStall: stall)
            }
        )
        for _ in 0..<3 {
            worker.wake()
            bench.clock.advance(by: ColdLine.interval)
        }
        _ = worker.step()
        #expect(looks.value == 1)
        _ = worker.step()
        #expect(looks.value == 3)
        #expect(bench.manager.snapshot().cleanFraction == 0)
        #expect(bench.engine.file.usage().frames == 0, "half a copy was kept")
        withExtendedLifetime(cache) {}
    }

    /// While values are listed nothing is locked but a slice of one cache: a thread of the app's may do all it likes
    /// between two slices.
    @Test func listsInSlices() throws {
        let bench = try Bench()
        let cache = try bench.controller.keyedCache("many", key: Int.self, value: [UInt8].self)
        for key in 0..<20_000 { cache.set([UInt8(truncatingIfNeeded: key)], for: key) }
        let most = Int(KeyedShard<Int, [UInt8]>.sliceLength)
        var slots = Set<UInt>()
        unsafe cache.entry.forEachSlot { slots.insert(UInt(bitPattern: $0)) }
        #expect(slots.count == 20_000)
        // More than one slice of each shard, none longer than it may be.
        for number in 0..<KeyedShards<Int, [UInt8]>.count {
            var (next, slices) = (UInt32?.some(0), 0)
            while let first = next {
                var length = 0
                next = unsafe cache.entry.shards[number].pointee.withLock { shard in
                    shard.forEachInSlice(from: first) { _ in length += 1 }
                }
                #expect(0...most ~= length)
                slices += 1
            }
            #expect(slices > 1)
        }
        unsafe cache.entry.forEachSlotInSlices { slots.remove(UInt(bitPattern: $0)) }
        #expect(slots.isEmpty, "\(slots.count) were left out")
    }

    /// Somebody else may change the tree while a cache is asked for its values.
    @Test func theTreeIsNotLockedWhileValuesAreListed() throws {
        let bench = try Bench()
        let probe = ListingProbe(name: "probe", hasLoader: false, host: bench.controller)
        bench.controller.state.withLock { _ = $0.entries.append(probe) }
        bench.rest()
        _ = bench.worker.step()
        #expect(probe.isFree.value == true)
        #expect(probe.isSliced.value, "all of a cache was listed under its locks")
        bench.controller.state.withLock { _ = $0.entries.remove(probe) }
    }

    /// A cache that sees, when it is listed, whether another thread may have the tree's lock and its controller's.
    private final class ListingProbe: CacheEntry, @unchecked Sendable {
        // Sendable: as its superclass.
        let isFree = Shared<Bool?>(nil)
        let isSliced = Shared(false)

        override func forEachSlotInSlices(_ body: (UnsafeMutableRawPointer) -> Void) {
            isSliced.set(true)
            unsafe super.forEachSlotInSlices(body)
        }

        override func forEachSlot(_ body: (UnsafeMutableRawPointer) -> Void) {
            let done = DispatchSemaphore(value: 0)
            let controller = host as? PressureController
            Thread.detachNewThread {
                PressureController.hierarchy.withLock { _ in }
                controller?.state.withLock { _ in }
                done.signal()
            }
            // It is free at once, or never.
            isFree.set(done.wait(timeout: .now() + 20) == .success)
        }
    }

    /// It holds locks and slots that others wait for: in the idle class it would keep them for as long as others are busy.
    @Test func theThreadIsNotInTheIdleClass() throws {
        let bench = try Bench()
        let policy = ConditionLock<CInt?>(nil)
        let worker = CleaningWorker(
            engine: bench.engine,
            root: bench.manager.root,
            rate: .mebibytes(1),
            isUnpressured: {
                // Asked by its thread alone: nobody notifies.
                let own = sched_getscheduler(0)
                policy.withLock { $0 = own }
                return false
            },
            read: { BusyReading(time: $0) }
        )
        try worker.start()
        let found = policy.wait { $0 }
        worker.stop()
        // SCHED_BATCH, which is behind _GNU_SOURCE, or where it may not choose what it was.
        #expect(found == 3 || found == SCHED_OTHER)
    }

    @Test func keepsToItsRate() throws {
        let bench = try Bench(rate: .mebibytes(1))
        let caches = try (0..<16).map {
            try bench.controller.cache("\($0)", initialValue: makeBytes(1 << 20, seed: UInt64($0)))
        }
        bench.rest()
        let start = bench.clock.now()
        bench.work()
        #expect(bench.worker.copiedBytes.load(ordering: .relaxed) == 16 << 20)
        let time = bench.clock.now() - start
        // The first MiB was saved up.
        #expect(time >= .seconds(14) && time < .seconds(30), "\(time)")
        withExtendedLifetime(caches) {}
    }

    @Test func withNothingToDoItLooksNoMore() throws {
        let bench = try Bench()
        let cache = try bench.controller.cache("value", initialValue: makeBytes(10_000, seed: 1))
        bench.rest()
        bench.work()
        let before = UseClock.now
        bench.patience.set(.max)
        for _ in 0..<10 {
            bench.worker.wake()
            bench.clock.advance(by: .seconds(5))
        }
        // Other suites may use the clock of the process meanwhile; alone, nobody moves it.
        if UseClock.now == before { #expect(bench.patience.value >= .max - 10, "it looked without a reason") }
        withExtendedLifetime(cache) {}
    }

    @Test func aFullDiskEndsItAndLosesNothing() async throws {
        let bench = try Bench()
        let value = makeBytes(600_000, seed: 1)
        let cache = try bench.controller.cache("value", initialValue: value)
        bench.rest()
        bench.faults.set(.init(.error(28), on: .write))
        bench.work()
        #expect(bench.manager.snapshot().cleanFraction == 0)
        #expect(bench.engine.file.usage().frames == 0)
        #expect(try await cache.value() == value)
        bench.faults.set(nil)
        bench.clock.advance(by: .seconds(120))
        bench.rest()
        bench.work()
        #expect(bench.manager.snapshot().cleanFraction == 1)
    }

    // MARK: Copies that are written anew

    @Test func whatWasWrittenInHasteIsCompressedLater() async throws {
        let bench = try Bench { $0.compressesLater = true }
        let values = (0..<4).map { makeBytes(1 << 20, seed: UInt64($0), randomBits: 2) }
        let caches = try values.enumerated().map {
            try bench.controller.cache("\($0.offset)", initialValue: $0.element)
        }
        // As a measured reclaim would: a fast disk, a slow codec.
        let hasty = ChunkCopier(file: bench.engine.file, choice: .stored, compressesLater: true)
        for cache in caches {
            let (entry, slot) = unsafe (cache.entry, cache.entry.slot.base)
            // The slot is the entry's own, and nobody else works on it.
            let isBegun = unsafe entry.beginCopy(slot, in: bench.engine.file)
            try #require(isBegun)
            let encoder = try ChunkEncoder()
            let result = unsafe hasty.copy(0..<4, of: entry, slot, with: encoder, for: .reclaim)
            #expect(result.failure == nil)
            unsafe entry.finishCopy(slot, succeeded: true, isProvisional: true)
        }
        _ = await bench.manager.simulateMemoryWarning(.critical)
        let before = bench.engine.file.usage().storedBytes
        #expect(before >= 4 << 20)
        bench.rest()
        bench.work()
        #expect(bench.worker.movedBytes.load(ordering: .relaxed) == 4 << 20)
        #expect(bench.engine.file.usage().storedBytes < before / 2)
        #expect(caches.map(\.residency) == Array(repeating: .spilled, count: 4))
        for (cache, value) in zip(caches, values) { #expect(try await cache.value() == value) }
        // Once is enough.
        _ = await bench.manager.simulateMemoryWarning(.critical)
        bench.rest()
        bench.work()
        #expect(bench.worker.movedBytes.load(ordering: .relaxed) == 4 << 20)
    }

    @Test func whatIsCompressedInMemoryIsMovedToTheDisk() async throws {
        let bench = try Bench { $0.compressedTier = .first(upTo: .mebibytes(8)) }
        let value = makeBytes(1 << 20, seed: 1)
        let cache = try bench.controller.cache("value", initialValue: value)
        _ = await bench.manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .compressed)
        bench.rest()
        bench.work()
        #expect(cache.residency == .spilled)
        #expect(bench.engine.memory?.usage().frames == 0)
        #expect(try await cache.value() == value)
    }

    /// A reader that comes while its value is being moved waits for one chunk, not for all of them.
    @Test func aReaderEndsAMove() async throws {
        let bench = try Bench { $0.compressedTier = .first(upTo: .mebibytes(8)) }
        let value = makeBytes(4 << 20, seed: 1, randomBits: 1)
        let cache = try bench.controller.cache("value", initialValue: value)
        _ = await bench.manager.simulateMemoryWarning(.critical)
        try #require(cache.residency == .compressed)
        let (entry, engine) = (cache.entry, bench.engine)
        let tools = try CleaningTools()
        let chunks = Shared(0)
        let reader = Shared<Task<[UInt8], any Error>?>(nil)
        let moved = try await BlockingPool.shared.run {
            // The slot is the entry's own.
            try unsafe entry.moveCopy(entry.slot.base, to: engine.file, with: tools) {
                guard
                    chunks.change({
                        $0 += 1; return $0
                    }) == 2
                else { return true }
                reader.set(Task { try await cache.value() })
                // It comes, for it has nothing else to do.
                while !(unsafe entry.slot.header.pointee.state.hasWaiters) {}
                return true
            }
        }
        #expect(moved == 0)
        #expect(chunks.value == 2)
        #expect(try await reader.value?.value == value)
        #expect(engine.file.usage().frames == 0)
    }

    @Test func aMoveThatFailsChangesNothing() async throws {
        let bench = try Bench { $0.compressedTier = .first(upTo: .mebibytes(8)) }
        let value = makeBytes(1 << 20, seed: 1)
        let cache = try bench.controller.cache("value", initialValue: value)
        _ = await bench.manager.simulateMemoryWarning(.critical)
        bench.rest()
        bench.faults.set(.init(.error(5), on: .write, .once(3)))
        let step = bench.worker.step()
        _ = step
        #expect(bench.faults.faults <= 1)
        #expect(cache.residency == .compressed || cache.residency == .spilled)
        #expect(try await cache.value() == value)
    }
}
