import PressureKitTestSupport
import Testing

@testable import PressureSignals
@testable import PressureSystem

@Suite struct PeerWatchTests {
    private let limit = 512 << 20
    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    private func slot(_ owner: UInt64 = 1 << 32 | 1, held: Int = 100 << 20, brought: Int = 1000 << 20) -> BoardSlot {
        var slot = BoardSlot()
        slot.owner = owner
        slot.held = held
        slot.free = held
        slot.books = .init(brought: brought, returned: brought - held)
        return slot
    }

    private func look(_ watch: inout PeerWatch, _ slots: [BoardSlot?], at milliseconds: Int64) {
        watch.look(own: 0, limit: limit, at: at(milliseconds)) { place in
            slots.indices.contains(place - 1) ? slots[place - 1] : nil
        }
    }

    @Test func whatAnotherBringsAndGivesBackIsCountedFromTheTimeItIsKnown() {
        var watch = PeerWatch()
        var other = slot()
        look(&watch, [other], at: 0)
        #expect(watch.count == 1)
        #expect(watch.books == .init(), "what it had done before is in no sample's difference")
        other.books.brought += 5 << 20
        other.books.returned += 2 << 20
        look(&watch, [other], at: 1)
        #expect(watch.books == .init(brought: 5 << 20, returned: 2 << 20))
        look(&watch, [nil], at: 2)
        #expect(watch.count == 0)
        // In the same place, another one.
        look(&watch, [slot(2 << 32 | 9, brought: 7)], at: 3)
        #expect(watch.books == .init(brought: 5 << 20, returned: 2 << 20))
    }

    /// What the killed have left looks like a process until the system is asked.
    @Test func whoIsNotKnownIsAskedForOnceAndAllWhereItMatters() {
        var watch = PeerWatch()
        var asked = 0
        func look(at milliseconds: Int64, isAlive: Bool, verifies: Bool = false) {
            watch.look(
                own: 0,
                limit: limit,
                at: at(milliseconds),
                verifies: verifies,
                isHeld: { _ in
                    asked += 1
                    return isAlive
                }
            ) { $0 == 1 ? slot() : nil }
        }
        look(at: 0, isAlive: false)
        #expect(watch.count == 0 && asked == 1)
        look(at: 1, isAlive: true)
        #expect(watch.count == 1 && asked == 2)
        look(at: 2, isAlive: false)
        #expect(watch.count == 1 && asked == 2, "known")
        look(at: 3, isAlive: false, verifies: true)
        #expect(watch.count == 0 && asked == 3)
        look(at: 4, isAlive: false)
        #expect(watch.count == 0, "and not known again by what it has left")
    }

    /// A load looks at those who are known and where the next two would sit; who is missed there is seen with the next sample.
    @Test func betweenSamplesTheNextOnesAreFoundAndNobodyIsLost() {
        var watch = PeerWatch()
        func look(at milliseconds: Int64, slots: Int, sits: Set<Int>) {
            watch.look(own: 0, slots: slots, limit: limit, at: at(milliseconds)) { place in
                #expect(place < slots)
                return sits.contains(place) ? slot(UInt64(place) << 32 | 1) : nil
            }
        }
        #expect(watch.reach(own: 0) == 3)
        #expect(watch.reach(own: 40) == 43)
        #expect(watch.reach(own: BoardLayout.slots - 1) == BoardLayout.slots)
        look(at: 0, slots: BoardLayout.slots, sits: [1, 9])
        #expect(watch.count == 2 && watch.reach(own: 0) == 12)
        look(at: 1, slots: watch.reach(own: 0), sits: [1, 9, 10, 11, 12])
        #expect(watch.count == 4 && watch.reach(own: 0) == 14)
        // Half written: as if absent, but still within reach.
        look(at: 2, slots: watch.reach(own: 0), sits: [1])
        #expect(watch.count == 1 && watch.reach(own: 0) == 14)
        look(at: 3, slots: watch.reach(own: 0), sits: [1, 9, 10, 11, 12])
        #expect(watch.count == 5)
        look(at: 4, slots: BoardLayout.slots, sits: [1, 50])
        #expect(watch.count == 2 && watch.reach(own: 0) == 53)
        look(at: 5, slots: BoardLayout.slots, sits: [1])
        #expect(watch.count == 1 && watch.reach(own: 0) == 4)
    }

    static let lies: [(String, @Sendable (inout BoardSlot) -> Void)] = [
        ("more than the limit", { $0.held = .max }),
        ("more to give than it holds", { $0.free = $0.held + 1 }),
        ("more to write than it holds", { $0.dirty = .max }),
        ("more free in its heap than the limit", { $0.heap = .max }),
        ("a floor above the limit", { $0.floor = .max }),
        ("no claim", { $0.claim = 0 }),
        ("a claim on everything", { $0.claim = 1e6 }),
        ("no number for a claim", { $0.claim = .nan }),
        ("no weight", { $0.weight = 0 }),
        ("no number for a weight", { $0.weight = .nan }),
        ("books beyond all bounds", { $0.books.brought = .max }),
        ("returns beyond all bounds", { $0.books.returned = .max }),
        ("written tomorrow", { $0.at = MonotonicInstant(nanoseconds: .max / 2) }),
    ]

    @Test(arguments: lies.map(\.0)) func whatIsOutOfBoundsIsAsIfAbsent(_ name: String) {
        var liar = slot()
        Self.lies.first { $0.0 == name }!.1(&liar)
        var watch = PeerWatch()
        look(&watch, [liar, slot(2 << 32 | 1)], at: 0)
        #expect(watch.count == 1)
        #expect(watch.others.held == 100 << 20)
        let own = ShortageShares.Member(held: 100 << 20, free: 100 << 20)
        #expect(watch.part(of: 10 << 20, own: own, at: at(0)) == 5 << 20)
    }

    /// A claim that has come to rest at a bound, as that of an idle process does in ten seconds, and the least and largest weights.
    @Test func whoClaimsLeastOrMostIsHeard() throws {
        for claim in [MemoryClaim.bounds.lowerBound, MemoryClaim.bounds.upperBound] {
            for weight in [1e-300, 1000] {
                var other = slot()
                (other.claim, other.weight) = (claim, weight)
                let read = try #require(BoardSlot(other.words))
                var watch = PeerWatch()
                look(&watch, [read], at: 0)
                #expect(watch.count == 1, "\(claim), \(weight)")
            }
        }
    }

    @Test func booksThatRunBackOrJumpChangeNothing() {
        var watch = PeerWatch()
        look(&watch, [slot(brought: 1000 << 20)], at: 0)
        look(&watch, [slot(brought: 500 << 20)], at: 1)
        #expect(watch.books == .init())
        var jump = slot(brought: 500 << 20)
        jump.books.brought += 2 * limit
        look(&watch, [jump], at: 2)
        #expect(watch.books == .init())
    }

    @Test func onWhoGivesNothingNobodyCountsForLong() {
        var watch = PeerWatch()
        let own = ShortageShares.Member(held: 100 << 20, free: 100 << 20)
        look(&watch, [slot()], at: 0)
        #expect(watch.part(of: 20 << 20, own: own, at: at(0)) == 10 << 20)
        let given = ShortageShares.Member(held: 90 << 20, free: 90 << 20)
        #expect(watch.part(of: 10 << 20, own: given, at: at(20)) == 0, "it may be at it")
        #expect(watch.part(of: 10 << 20, own: given, at: at(40)) == 0)
        #expect(watch.part(of: 10 << 20, own: given, at: at(41)) == 10 << 20)
        // It gives: it is counted on again.
        var other = slot()
        other.books.returned += 1 << 20
        other.held -= 1 << 20
        other.free -= 1 << 20
        look(&watch, [other], at: 42)
        #expect(watch.part(of: 9 << 20, own: given, at: at(42)) == 0)
        // And when nothing is missing any more, all is forgotten.
        #expect(watch.part(of: 9 << 20, own: given, at: at(80)) == 0)
        #expect(watch.part(of: 0, own: given, at: at(81)) == 0)
        #expect(watch.part(of: 9 << 20, own: given, at: at(82)) == 0)
    }

    @Test func whatMayBeMissingOnceMakesNobodyLate() {
        var watch = PeerWatch()
        let own = ShortageShares.Member(held: 100 << 20, free: 100 << 20)
        look(&watch, [slot()], at: 0)
        #expect(watch.shares(of: 20 << 20, own).part(own) == 10 << 20)
        #expect(watch.part(of: 20 << 20, own: own, at: at(1000)) == 10 << 20)
    }

    @Test func aSlotIsReadAsItWasWrittenAndNotHalf() {
        var slot = slot()
        slot.claim = 0.375
        slot.heap = 12_345
        slot.weight = 2.5
        slot.answered = 7
        slot.answerTime = .milliseconds(3)
        let words = slot.words
        #expect(BoardSlot(words) == slot)
        for index in 0..<15 {
            var torn = slot.words
            torn[index] ^= 1 << 17
            #expect(BoardSlot(torn) == nil)
        }
        var shortage = BoardShortage()
        (shortage.number, shortage.need, shortage.owner) = (3, 99, slot.owner)
        #expect(BoardShortage(shortage.words) == shortage)
        for index in 0..<7 {
            var torn = shortage.words
            torn[index] ^= 1 << 33
            #expect(BoardShortage(torn) == nil)
        }
    }
}
