import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// When a reclaim gives the heap back to the system: others need it before the reclaim has ended.
@Suite struct ReclaimProgressTests {
    private let clock = ManualClock()
    private let heap: FreeHeap

    init() { heap = FreeHeap(clock: clock, read: { 0 }, trim: { [clock] in clock.advance(by: .milliseconds(4)) }) }

    private func progress(isOver: (() -> Bool)?) throws -> ReclaimEngine.Progress {
        let file = try SpillFixture(InMemoryFileSystem()).file
        let target = SpillTarget(file, choice: nil, compressesLater: false, clock: clock)
        var progress = ReclaimEngine.Progress(PlanStorage(most: 16), to: target, residentBefore: 0)
        progress.isOver = isOver
        return progress
    }

    @Test func whileMemoryIsShortEveryTwoMebibytesGoBack() throws {
        var progress = try progress { false }
        progress.freed = (1 << 20) - 1
        #expect(!progress.wantsTrim(of: heap))
        progress.freed += 1
        #expect(progress.wantsTrim(of: heap))
        progress.noteTrim(from: clock.now(), to: clock.now())
        #expect(progress.isTrimmed)
        #expect(!progress.wantsTrim(of: heap))
        progress.freed += 1 << 20
        #expect(progress.wantsTrim(of: heap))
    }

    @Test func halfOfTheTimeAtMostGoesIntoIt() throws {
        var progress = try progress { false }
        progress.freed = 1 << 20
        let start = clock.now()
        clock.advance(by: .milliseconds(5))
        progress.noteTrim(from: start, to: clock.now())
        progress.freed += 64 << 20
        clock.advance(by: .milliseconds(4))
        #expect(!progress.mayTrim(by: clock))
        clock.advance(by: .milliseconds(1))
        #expect(progress.mayTrim(by: clock) && progress.wantsTrim(of: heap))
        #expect(progress.phases.trim == .milliseconds(5))
    }

    /// What the app asks for, and a batch, which gives it back itself.
    @Test func whereNothingIsShortItIsLeftToTheEnd() throws {
        var progress = try progress(isOver: nil)
        progress.freed = 1 << 30
        #expect(!progress.wantsTrim(of: heap))
        progress.isHasty = true
        #expect(progress.wantsTrim(of: heap), "others take it")
    }

    /// Going through the heap takes its time, be it for a mebibyte or for five, and others take memory meanwhile.
    @Test func theLongerItTakesTheMoreIsWaitedFor() throws {
        var progress = try progress { false }
        var room = AdmissionRoom(bytes: 0, takenAt: clock.now(), high: 6 << 20)
        room.surge = 300e6
        progress.room = room
        progress.freed = 1 << 20
        #expect(progress.wantsTrim(of: heap), "nobody knows yet")
        heap.giveBack()
        #expect(!progress.wantsTrim(of: heap))
        progress.freed = 2_400_000
        #expect(progress.wantsTrim(of: heap), "twice what is taken in 4 ms")
        #expect(room.worthGivingBack(in: .milliseconds(400)) == 3 << 20, "half of what is free afterwards")
        #expect(room.worthGivingBack(in: .zero) == 1 << 20)
    }

    /// Small values leave hardly a whole page: going through them all is not for as long as the system has enough.
    @Test func whatYieldsLittleIsNotGivenBackBeforeItMust() throws {
        let free = Lock(0)
        let heap = FreeHeap(clock: clock, read: { free.withLock { $0 } }, trim: {}, inMemory: { 1000 })
        var progress = try progress { false }
        progress.freed = 1 << 30
        var room = AdmissionRoom(bytes: 3, takenAt: clock.now())
        room.heap = 3
        progress.room = room
        #expect(progress.wantsTrim(of: heap), "nobody knows what it yields")
        free.withLock { $0 = 1 << 20 }
        heap.giveBack()
        #expect(!progress.wantsTrim(of: heap))
        progress.room?.bytes = 2
        #expect(progress.wantsTrim(of: heap), "the system has less than the least without it")
        progress.room = nil
        #expect(progress.wantsTrim(of: heap), "nobody knows what it has")
        progress.isOver = nil
        progress.isHasty = true
        #expect(!progress.wantsTrim(of: heap), "after a batch, and not in it")
    }

    /// The heap is given back after such a batch: what little is still to leave goes with it.
    @Test func theLastOfABatchIsGivenBackOnce() throws {
        var progress = try progress { false }
        var room = AdmissionRoom(bytes: -1, takenAt: clock.now())
        room.isTaken = true
        progress.room = room
        progress.goal = 3 << 20
        progress.freed = 2 << 20
        #expect(progress.wantsTrim(of: heap))
        progress.freed += 1
        #expect(!progress.wantsTrim(of: heap))
        progress.room?.isTaken = false
        #expect(progress.wantsTrim(of: heap), "nobody does it afterwards")
    }

    /// A thread may not have got a processor.
    @Test func howLongItTakesIsAnAverage() {
        let took = Lock(Duration.milliseconds(4))
        let heap = FreeHeap(clock: clock, read: { 0 }, trim: { [clock] in clock.advance(by: took.withLock { $0 }) })
        heap.giveBack()
        #expect(heap.reading(beside: MemoryBooks.Reading()).giving == .milliseconds(4))
        took.withLock { $0 = .milliseconds(84) }
        heap.giveBack()
        #expect(heap.reading(beside: MemoryBooks.Reading()).giving == .milliseconds(24))
    }

    /// What one batch leaves in the heap is there for the next one to give back.
    @Test func whatBatchesLeaveAddsUp() {
        let room = AdmissionRoom(bytes: 0, takenAt: clock.now())
        heap.note(unreturned: 1 << 19, among: 0)
        #expect(!heap.isWorthGivingBack(in: room))
        heap.note(unreturned: 1 << 19, among: 0)
        #expect(heap.isWorthGivingBack(in: room))
        heap.giveBack()
        #expect(!heap.isWorthGivingBack(in: room))
    }
}
