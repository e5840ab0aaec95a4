import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals
@testable import PressureSystem

/// What threads share without a lock.
@Suite(.timeLimit(.minutes(5))) struct SharingTests {
    /// Three numbers that belong together.
    private struct Triple: BitwiseCopyable, Equatable {
        var first = 0
        var second = 0
        var third = 0
    }

    @Test func whatIsReadWasPublishedAsAWhole() async {
        let published = Published(Triple())
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var last = 0
                    while last < 20_000 {
                        let found = published.value
                        let isWhole = found.second == 2 * found.first && found.third == 3 * found.first
                        guard isWhole, found.first >= last else { return false }
                        last = found.first
                        await Task.yield()
                    }
                    return true
                }
            }
            group.addTask {
                for number in 1...20_000 {
                    published.store(Triple(first: number, second: 2 * number, third: 3 * number))
                }
                return true
            }
            for await isWhole in group { #expect(isWhole) }
        }
    }

    @Test func noneIsReadAsNone() {
        let published = Published<Triple?>(nil)
        #expect(published.value == nil)
        published.store(Triple(first: 1))
        #expect(published.value == Triple(first: 1))
        published.store(nil)
        #expect(published.value == nil)
    }

    /// An object that says when it goes.
    private final class Guest: Sendable {
        let number: Int
        private let alive: Shared<Int>

        init(_ number: Int, _ alive: Shared<Int>) {
            self.number = number
            self.alive = alive
            alive.change { $0 += 1 }
        }

        deinit { alive.change { $0 -= 1 } }
    }

    @Test func whatIsReplacedGoesOnceNobodyReadsIt() async {
        let alive = Shared(0)
        let reference = AtomicReference<Guest>()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var last = 0
                    while last < 5_000 {
                        let number = reference.object?.number ?? 0
                        guard number >= last else { return false }
                        last = number
                        await Task.yield()
                    }
                    return true
                }
            }
            group.addTask {
                for number in 1...5_000 { reference.store(Guest(number, alive)) }
                return true
            }
            for await isInOrder in group { #expect(isInOrder) }
        }
        reference.sweep()
        #expect(alive.value == 1, "only the newest")
        reference.store(nil)
        #expect(alive.value == 0)
        #expect(reference.object == nil)
    }

    @Test func whoSleepsLooksAfterEachNotification() async throws {
        let count = EventCount()
        let number = Shared(0)
        let waiter = Task.detached {
            try await BlockingPool.shared.run { count.wait(atMost: .seconds(60)) { number.value == 100 ? true : nil } }
        }
        for next in 1...100 {
            number.set(next)
            count.notify()
            await Task.yield()
        }
        #expect(try await waiter.value == true)
    }

    @Test func aWaitEndsWithoutANotification() {
        let count = EventCount()
        #expect(count.wait(atMost: .zero) { nil as Int? } == nil)
        #expect(count.wait(atMost: .milliseconds(1)) { nil as Int? } == nil)
        #expect(count.wait(atMost: .zero) { 7 } == 7)
    }

    // MARK: Whoever waits is not woken for nothing

    /// Waking costs more than freeing a small value does. So who lacks a mebibyte is left alone until it has come, and finds it
    /// then, in however small pieces; and whoever calls has all look.
    @Test func whoLacksAMebibyteLooksWhenItHasCome() async throws {
        let books = MemoryBooks()
        let looks = ConditionLock(0)
        let reader = Task.detached {
            try await BlockingPool.shared.run {
                books.wait(atMost: .seconds(60)) { () -> MemoryBooks.Look<Int> in
                    // Before it is known that he has looked, for then more comes.
                    let isEnough = books.reading.returned > 256 << 12
                    let look = looks.withLock { looks -> Int in
                        looks += 1
                        return looks
                    }
                    return isEnough ? .found(look) : .lacks(1 << 20)
                }
            }
        }
        looks.wait { $0 == 1 ? () : nil }
        for _ in 1..<256 { books.note(-4096) }
        books.ease(4095)
        #expect(looks.withLock { $0 } == 1)
        books.ease(1)
        looks.wait { $0 == 2 ? () : nil }
        books.wake()
        looks.wait { $0 == 3 ? () : nil }
        for _ in 0..<256 { books.note(-4096) }
        #expect(try await reader.value == 4)
    }

    /// However a look and what comes meanwhile fall together.
    @Test func nothingThatComesDuringALookIsMissed() async throws {
        let books = MemoryBooks()
        let rounds = 2000
        let reader = Task.detached {
            try await BlockingPool.shared.run {
                for round in 1...rounds {
                    let isThere = books.wait(atMost: .seconds(60)) { () -> MemoryBooks.Look<Bool> in
                        let lack = round << 16 - books.reading.returned
                        return lack <= 0 ? .found(true) : .lacks(lack)
                    }
                    guard isThere == true else { return round }
                }
                return rounds
            }
        }
        for _ in 0..<rounds {
            for _ in 0..<16 { books.note(-4096) }
            await Task.yield()
        }
        #expect(try await reader.value == rounds)
    }

    // MARK: Who frees memory waits for no reader

    /// A reader that has been woken looks whether it may go on, and gets no processor: whoever gives bytes back does not wait
    /// for it.
    @Test func whoGivesBackDoesNotWaitForAReaderWhoLooks() async throws {
        let books = MemoryBooks()
        let (isLooking, mayGoOn) = (Gate(), ConditionLock(false))
        let reader = Task.detached {
            try await BlockingPool.shared.run {
                books.wait(atMost: .seconds(60)) { () -> Bool? in
                    isLooking.open()
                    return mayGoOn.wait { $0 ? true : nil }
                }
            }
        }
        try await isLooking.passUnlessCancelled()
        books.note(1 << 20)
        books.note(-(1 << 20))
        books.wake()
        #expect(books.reading.returned == 1 << 20)
        mayGoOn.withLock { $0 = true }
        #expect(try await reader.value == true)
    }

    /// A seat on a board whose reads wait.
    private final class SlowSeat: BoardStore {
        let seat: InMemoryBoard.Seat
        let isReading = Gate()
        let isHeldUp = ConditionLock(false)

        init(_ seat: InMemoryBoard.Seat) { self.seat = seat }

        var place: Int { seat.place }
        func read(
            slots: Int,
            _ body: (borrowing BoardLayout.Words, (Int) -> BoardLayout.Words) -> Void
        ) -> Bool {
            isReading.arrive()
            isHeldUp.wait { $0 ? nil : () }
            return seat.read(slots: slots, body)
        }
        func write(_ slot: borrowing BoardLayout.Words) { seat.write(slot) }
        func write(header: borrowing BoardLayout.Words) { seat.write(header: header) }
        func isHeld(_ place: Int) -> Bool { seat.isHeld(place) }
        func notify() { seat.notify() }
        func leave() { seat.leave() }
    }

    /// One thread is in the middle of looking at the others: the next goes by what is known, and what it has to say is said
    /// by the first.
    @Test func whoWantsToLookDoesNotWaitForWhoLooks() async throws {
        let shared = InMemoryBoard()
        let (slow, other) = (try SlowSeat(shared.join()), try shared.join())
        let now = MonotonicInstant(nanoseconds: 1_000_000)
        let board = Board(slow, share: MemoryShare(), process: 1, at: now)
        let beside = Board(other, share: MemoryShare(), process: 2, at: now)
        @Sendable func own(_ underWay: Int) -> Board.Own {
            let member = ShortageShares.Member(held: 100, free: 100)
            var own = Board.Own(member: member, books: .init(brought: 100), awaited: 0, resident: 100)
            own.underWay = underWay
            return own
        }
        beside.exchange(limit: 1000, .alive, at: now) { own(7) }
        board.exchange(limit: 1000, .alive, at: now) { own(0) }
        #expect(board.count == 1)
        #expect(board.others.underWay == 7)

        slow.isHeldUp.withLock { $0 = true }
        let later = MonotonicInstant(nanoseconds: 900_000_000)
        let said = Shared(0)
        let isAt = Task.detached {
            try await BlockingPool.shared.run { board.exchange(limit: 1000, .known, at: later) { own(said.value) } }
        }
        await slow.isReading.untilArrivals(2)
        // None of these waits.
        said.set(5)
        board.exchange(limit: 1000, .known, at: later) { own(said.value) }
        board.look(at: later)
        board.notify(need: 1, at: later)
        #expect(board.part(of: 100, .init(held: 100, free: 100), at: later) >= 0)
        #expect(board.count == 1)
        slow.isHeldUp.withLock { $0 = false }
        try await isAt.value
        #expect(shared.slots.contains { $0.underWay == 5 }, "the first has said what the second had to say")
    }
}
