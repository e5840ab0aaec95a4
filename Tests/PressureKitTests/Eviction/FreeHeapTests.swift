import PressureKitTestSupport
import PressureKitTesting
import PressureSignals
import Testing

@testable import PressureKit

@Suite struct FreeHeapTests {
    /// What was given back is free too, and not in memory: it must not be counted twice.
    @Test func whatWasGivenBackIsNotInMemory() {
        let clock = ManualClock()
        let free = Lock(10)
        let heap = FreeHeap(clock: clock, read: { free.withLock { $0 } }, trim: {})
        func bytes(free now: Int) -> Int {
            free.withLock { $0 = now }
            clock.advance(by: .seconds(1))
            heap.look()
            return heap.usable(beside: 0)
        }
        #expect(bytes(free: 10) == 0, "as it was at the start")
        #expect(bytes(free: 50) == 40)
        heap.giveBack()
        #expect(bytes(free: 50) == 0)
        #expect(bytes(free: 30) == 0, "some of it is in use, and so in memory, now")
        #expect(bytes(free: 50) == 20)
    }

    /// Between two loads the scratch of loaders is free: values that took its place had the next loads grow the heap, and 64 of
    /// them were killed below 128 MiB.
    @Test func whatLoadersWillNeedAgainIsNotForValues() {
        let clock = ManualClock()
        let free = Lock(0)
        let inMemory = Lock(0)
        let heap = FreeHeap(
            clock: clock,
            read: { free.withLock { $0 } },
            trim: {},
            inMemory: { inMemory.withLock { $0 } }
        )
        /// The rest of the process has so much in use, and so much of the heap is free.
        func bytes(inUse used: Int, free now: Int, after pause: Duration = .milliseconds(100)) -> Int {
            free.withLock { $0 = now }
            inMemory.withLock { $0 = used + now }
            clock.advance(by: pause)
            heap.look()
            return heap.usable(beside: 0)
        }
        #expect(bytes(inUse: 50 << 20, free: 1 << 20) == 1 << 20)
        // Loaders run, and have ended.
        #expect(bytes(inUse: 53 << 20, free: 0) == 0)
        #expect(bytes(inUse: 50 << 20, free: 3 << 20) < 1 << 18)
        #expect(bytes(inUse: 50 << 20, free: 5 << 20) > 2 << 20, "what values have left beside that")
        #expect(
            heap.usable(beside: 50 << 20) < -2 << 20,
            "values have taken it all, and loaders will grow the heap"
        )
        #expect(bytes(inUse: 50 << 20, free: 3 << 20, after: .seconds(20)) > 3 << 20 - 1 << 12, "nobody loads any more")
        // Other memory that swings is no scratch.
        #expect(bytes(inUse: 150 << 20, free: 0) == 0)
        #expect(bytes(inUse: 50 << 20, free: 6 << 20) == 6 << 20 - FreeHeap.mostLeft)
        heap.giveBack()
        #expect(heap.usable(beside: 0) == -FreeHeap.mostLeft, "it will be needed when it is the system's, too")
    }

    /// The thread that reads it may get no processor: meanwhile values fill what was free, and it is not there twice.
    @Test func whatValuesHaveTakenSinceIsFreeNoMore() {
        let clock = ManualClock()
        let free = Lock(0)
        let heap = FreeHeap(clock: clock, read: { free.withLock { $0 } }, trim: {})
        free.withLock { $0 = 5000 }
        heap.look { MemoryBooks.Reading(brought: 20_000) }
        #expect(heap.usable(beside: 20_000) == 5000)
        #expect(heap.usable(beside: 22_000) == 3000)
        #expect(heap.usable(beside: 90_000) == 0)
        #expect(heap.usable(beside: 10_000) == 5000, "what was given back may have gone to the system")
        free.withLock { $0 = 2000 }
        clock.advance(by: .seconds(1))
        heap.look { MemoryBooks.Reading(brought: 23_000) }
        #expect(heap.usable(beside: 23_000) == 2000)
    }

    /// Whether it is worth giving back again: of small values here and there hardly a page goes to the system.
    @Test(arguments: [(12, true), (10, true), (9, false), (0, false), (-5, false)])
    func whatTheSystemGotOfItIsKnown(returned: Int, yieldsMuch: Bool) {
        let clock = ManualClock()
        let inMemory = Lock(100)
        let free = Lock(5)
        let heap = FreeHeap(
            clock: clock,
            read: { free.withLock { $0 } },
            trim: { inMemory.withLock { $0 -= returned } },
            inMemory: { inMemory.withLock { $0 } }
        )
        #expect(heap.yieldsMuch, "nobody knows yet")
        // Five of them were free at the start, and perhaps not in memory.
        free.withLock { $0 = 25 }
        heap.giveBack()
        #expect(heap.yieldsMuch == yieldsMuch)
        heap.giveBack()
        #expect(heap.yieldsMuch == yieldsMuch, "there was nothing to give")
    }

    /// What others take meanwhile hides what the system got.
    @Test func othersWhoTakeMemoryAreNotHeldAgainstIt() {
        let clock = ManualClock()
        let inMemory = Lock(100)
        let free = Lock(0)
        let heap = FreeHeap(
            clock: clock,
            read: { free.withLock { $0 } },
            trim: { [clock] in
                inMemory.withLock { $0 += 20 - 15 }
                clock.advance(by: .seconds(2))
            },
            inMemory: { inMemory.withLock { $0 } }
        )
        var room = AdmissionRoom(bytes: 0, takenAt: clock.now())
        room.surge = 10
        free.withLock { $0 = 20 }
        heap.giveBack(beside: room)
        #expect(heap.yieldsMuch)
        room.surge = 5
        free.withLock { $0 = 40 }
        heap.giveBack(beside: room)
        #expect(!heap.yieldsMuch)
    }

    /// Counting the blocks takes longer than giving them back, and whoever allocates waits.
    @Test func whileOthersTakeMemoryItIsGivenBackAndNotRead() {
        let clock = ManualClock()
        let (free, reads) = (Shared(0), Shared(0))
        let read: @Sendable () -> Int = {
            reads.change { $0 += 1 }
            return free.value
        }
        let heap = FreeHeap(clock: clock, read: read, trim: {})
        free.change { $0 = 30 << 20 }
        clock.advance(by: .seconds(1))
        #expect(heap.look())
        #expect(heap.reading(beside: MemoryBooks.Reading()).usable == 30 << 20)
        let before = reads.value
        var room = AdmissionRoom(bytes: 0, takenAt: clock.now())
        room.isTaken = true
        heap.giveBack(beside: room)
        #expect(!heap.look(), "nor soon after")
        #expect(reads.value == before)
        #expect(heap.reading(beside: MemoryBooks.Reading()).usable == 0)
        #expect(heap.free == 30 << 20, "as far as anybody knows")
        clock.advance(by: .seconds(1))
        #expect(heap.look())
        #expect(heap.reading(beside: MemoryBooks.Reading()).usable == 0, "all that is free then was given back")
        free.change { $0 = 33 << 20 }
        clock.advance(by: .seconds(1))
        #expect(heap.look())
        #expect(heap.reading(beside: MemoryBooks.Reading()).usable == 3 << 20)
        // A MiB has left before that and two in the batch under way; ten leave afterwards.
        heap.note(unreturned: 1 << 20, among: 0)
        heap.giveBack(beside: room, unreturned: 2 << 20)
        #expect(heap.free == 36 << 20)
        free.change { $0 = 46 << 20 }
        clock.advance(by: .seconds(1))
        #expect(heap.look())
        #expect(heap.reading(beside: MemoryBooks.Reading()).usable == 10 << 20)
    }

    /// The more there are, the sooner it has to begin.
    @Test func howLongItTakesToFindWhatLeavesFollowsFromHowManyThereAre() {
        let heap = FreeHeap(clock: ManualClock(), read: { 0 }, trim: {})
        #expect(heap.reading(beside: MemoryBooks.Reading()).leaving == .zero)
        heap.note(unreturned: 0, among: 100_000)
        #expect(heap.reading(beside: MemoryBooks.Reading()).leaving == .milliseconds(25))
    }

    @Test func itIsNotReadAllTheTime() {
        let clock = ManualClock()
        let reads = Lock(0)
        let heap = FreeHeap(
            clock: clock,
            read: {
                reads.withLock {
                    $0 += 1; return $0 * 10
                }
            },
            trim: {}
        )
        clock.advance(by: .seconds(1))
        #expect(heap.look())
        #expect(!heap.look())
        #expect(heap.usable(beside: 0) == 10)
        #expect(reads.withLock { $0 } == 2)
    }

    /// A heap of many blocks takes long to read, and nobody can allocate meanwhile.
    @Test func whatTakesLongIsReadLessOften() {
        let clock = ManualClock()
        let reads = Lock(0)
        let heap = FreeHeap(
            clock: clock,
            read: {
                clock.advance(by: .milliseconds(2))
                return reads.withLock { reads in
                    reads += 1
                    return reads
                }
            },
            trim: {}
        )
        for _ in 0..<1000 {
            heap.look()
            clock.advance(by: .milliseconds(1))
        }
        // At the start, and then one in a tenth of a second.
        #expect((9...12).contains(reads.withLock { $0 }))
    }

    /// The real one: a heap that was filled and emptied has something to give.
    @Test func theProcessesOwnIsMeasured() {
        let heap = FreeHeap(clock: SystemClock())
        var values = (0..<2_000).map { _ in [UInt8](repeating: 1, count: 30_000) }
        // Others in between, so that the blocks cannot join the top of the heap.
        values = values.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        withExtendedLifetime(values) {
            heap.look()
            #expect(heap.usable(beside: 0) >= 0)
            heap.giveBack()
            #expect(heap.usable(beside: 0) == 0)
        }
    }

    /// The real one again: the system gets what values of many pages leave, and little of what is hardly larger than one.
    @Test(arguments: [(4 << 10, false), (64 << 10, true)])
    func smallBlocksYieldLittle(size: Int, yieldsMuch: Bool) throws {
        func yields() throws -> Bool {
            let clock = ManualClock()
            let heap = FreeHeap(clock: clock, process: try ProcessFootprint())
            // What tests before this one have left is taken by these, or not in memory.
            heap.giveBack()
            var values = (0..<(64 << 20) / size).map { _ in [UInt8](repeating: 1, count: size) }
            clock.advance(by: .seconds(1))
            heap.look()
            values = values.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
            return withExtendedLifetime(values) {
                heap.giveBack()
                return heap.yieldsMuch
            }
        }
        // Tests beside this one come and go with their memory.
        #expect(try (0..<5).contains { _ in try yields() == yieldsMuch })
    }
}

extension FreeHeap {
    fileprivate func usable(beside resident: Int) -> Int {
        reading(beside: MemoryBooks.Reading(brought: resident)).usable
    }
}
