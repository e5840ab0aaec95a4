#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite struct AdmissionLedgerTests {
    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    private func room(_ mebibytes: Int, at milliseconds: Int64 = 0, ownPart: Double = 1) -> AdmissionRoom {
        AdmissionRoom(bytes: mebibytes << 20, takenAt: at(milliseconds), overdraft: 16 << 20, ownPart: ownPart)
    }

    @Test func whatFitsGoes() {
        var ledger = AdmissionLedger()
        ledger.underWay += 10 << 20
        #expect(ledger.verdict(on: 10 << 20, room: room(100), books: .init(), at: at(0)) == .go)
        #expect(ledger.verdict(on: 10 << 20, room: nil, books: .init(), at: at(0)) == .go)
    }

    /// Before the first sample: one always goes, and others up to a quarter of the limit.
    @Test func unseenAQuarterOfTheLimitGoes() {
        var ledger = AdmissionLedger()
        ledger.underWay += 30 << 20
        #expect(ledger.mayGoUnseen(30 << 20, below: 64 << 20, isWaiting: false))
        ledger.underWay += 1 << 20
        #expect(!ledger.mayGoUnseen(1 << 20, below: 64 << 20, isWaiting: false))
        ledger.beginWaiting(1 << 20)
        #expect(!ledger.mayGoUnseen(1 << 20, below: 64 << 20, isWaiting: true))
        ledger.underWay -= 30 << 20
        #expect(ledger.mayGoUnseen(1 << 20, below: 64 << 20, isWaiting: true))
        ledger.underWay += 15 << 20
        #expect(ledger.mayGoUnseen(1 << 20, below: 64 << 20, isWaiting: true))
        #expect(!ledger.mayGoUnseen(2 << 20, below: 64 << 20, isWaiting: true))
    }

    @Test func whatWouldCrossIntoCriticalNeedsThatMuchFreed() {
        var ledger = AdmissionLedger()
        ledger.underWay += 130 << 20
        #expect(ledger.verdict(on: 130 << 20, room: room(100), books: .init(), at: at(0)) == .reclaim(.mebibytes(30)))
    }

    /// Behind the threshold the process's part of the shortage goes as well, as far as it is not out of proportion.
    @Test(arguments: [(-20, 1, 25), (-64, 1, 69), (-900, 1, 69), (-20, 0.25, 10), (-900, 0.01, 14)])
    func behindTheThresholdOnesPartOfTheShortageIsAskedForToo(room: Int, part: Double, wanted: Int) {
        var ledger = AdmissionLedger()
        ledger.underWay += 5 << 20
        let verdict = ledger.verdict(on: 5 << 20, room: self.room(room, ownPart: part), books: .init(), at: at(0))
        #expect(verdict == .reclaim(.mebibytes(wanted)))
    }

    /// Who shares the limit and is to free it may get no processor. More than half of the least is 16 MiB here.
    @Test(arguments: [(-16, true, 5), (-17, true, 22), (-17, false, 5)])
    func whenHalfOfTheLeastIsGoneItIsEverybodys(room: Int, isShared: Bool, wanted: Int) {
        var ledger = AdmissionLedger()
        ledger.underWay += 5 << 20
        var shared = self.room(room, ownPart: 0)
        shared.others = isShared ? .init() : nil
        #expect(
            ledger.verdict(on: 5 << 20, room: shared, books: .init(), at: at(0)) == .reclaim(.mebibytes(wanted))
        )
        #expect(ledger.credit(in: shared, .init()) == 0)
    }

    @Test func whatIsUnderWayAndWhatTheBooksSayCount() {
        var ledger = AdmissionLedger()
        ledger.underWay += 40 << 20
        ledger.underWay += 40 << 20
        ledger.underWay -= 40 << 20
        ledger.underWay += 40 << 20
        let books = MemoryBooks.Reading(brought: 40 << 20, returned: 0)
        #expect(ledger.margin(in: room(100), books) == -20 << 20)
        #expect(ledger.margin(in: room(100), .init(brought: 40 << 20, returned: 30 << 20)) == 10 << 20)
        var noted = room(100, at: 6)
        noted.books = books
        #expect(ledger.margin(in: noted, books) == 20 << 20, "the sample shows the one that has arrived")
    }

    /// What goes without a look is a small part of what is left, and of what one sample counts for.
    @Test func creditIsAnEighthOfWhatIsLeft() {
        var ledger = AdmissionLedger()
        #expect(ledger.credit(in: room(80), .init()) == 10 << 20)
        ledger.underWay = 40 << 20
        #expect(ledger.credit(in: room(80), .init()) == 5 << 20)
        #expect(ledger.credit(in: room(80), .init(brought: 100 << 20)) == 0)
        var few = room(80)
        few.stride = 8 << 20
        #expect(ledger.credit(in: few, .init()) == 2 << 20)
        #expect(ledger.credit(in: few, .init(brought: 4 << 20)) == 1 << 20)
        #expect(ledger.credit(in: few, .init(brought: 9 << 20)) == 0)
        #expect(ledger.credit(in: few, .init(brought: 9 << 20, returned: 9 << 20)) == 2 << 20)
    }

    /// The number of values that ever came is no matter: what the sample shows is not counted again.
    @Test(arguments: [7, 8, 9, 1_000, 100_000])
    func manySmallArrivalsBeforeTheSampleTakeNothingOff(count: Int) {
        let ledger = AdmissionLedger()
        let books = MemoryBooks()
        for _ in 0..<count { books.note(1 << 20) }
        var room = room(100, at: 3)
        room.books = books.reading
        #expect(ledger.margin(in: room, books.reading) == 100 << 20)
        for _ in 0..<10 { books.note(1 << 20) }
        #expect(ledger.margin(in: room, books.reading) == 90 << 20)
        for _ in 0..<4 { books.note(-1 << 20) }
        #expect(ledger.margin(in: room, books.reading) == 94 << 20)
    }

    @Test func anOldSampleDoesNotDecideAboutALargeLoad() {
        var ledger = AdmissionLedger()
        ledger.underWay += 40 << 20
        #expect(ledger.verdict(on: 40 << 20, room: room(100), books: .init(), at: at(100)) == .look)
        #expect(ledger.verdict(on: 40 << 20, room: room(1000), books: .init(), at: at(100)) == .go)
        #expect(ledger.verdict(on: 40 << 20, room: room(10), books: .init(), at: at(100)) == .look)
    }

    /// Others can take at any moment what they took in a burst before. A sample is good for as long as what it shows cannot
    /// be gone; else a reader goes on by it while another process fills what is left.
    @Test func aSampleAgesByWhatOthersCanHaveTaken() {
        var ledger = AdmissionLedger()
        ledger.underWay += 4 << 20
        var room = room(20)
        #expect(ledger.verdict(on: 4 << 20, room: room, books: .init(), at: at(15)) == .go)
        room.surge = Double(1 << 30)
        #expect(room.taken(at: at(15)) == 15 * (1 << 30) / 1000)
        #expect(ledger.verdict(on: 4 << 20, room: room, books: .init(), at: at(15)) == .go)
        #expect(ledger.verdict(on: 4 << 20, room: room, books: .init(), at: at(16)) == .look)
        ledger.underWay += 8 << 20
        #expect(ledger.verdict(on: 8 << 20, room: room, books: .init(), at: at(8)) == .look)
        #expect(ledger.verdict(on: 8 << 20, room: room, books: .init(), at: at(7)) == .go)
        room.surge = .greatestFiniteMagnitude
        #expect(ledger.verdict(on: 8 << 20, room: room, books: .init(), at: at(0)) == .go, "it is as new as can be")
        #expect(ledger.verdict(on: 8 << 20, room: room, books: .init(), at: at(1)) == .look)
    }

    /// Whoever had it freed: the monitor, another reader, the app. Or one shortage would be reclaimed twice.
    @Test func whatAnybodyHadFreedSinceTheSampleIsThere() {
        var ledger = AdmissionLedger()
        ledger.underWay += 5 << 20
        #expect(ledger.verdict(on: 5 << 20, room: room(-20), books: .init(), at: at(1)) == .reclaim(.mebibytes(25)))
        let freed = MemoryBooks.Reading(brought: 0, returned: 25 << 20)
        #expect(ledger.verdict(on: 5 << 20, room: room(-20), books: freed, at: at(5)) == .go)
    }

    /// As few as the limit is small.
    @Test func aFewSmallValuesAreNotWorthAReclaim() {
        var ledger = AdmissionLedger()
        ledger.underWay += 4096
        var room = AdmissionRoom(bytes: -1, takenAt: at(0), overdraft: 1 << 20)
        #expect(ledger.verdict(on: 4096, room: room, books: .init(), at: at(0)) == .go)
        room.overdraft = 8192
        #expect(ledger.verdict(on: 4096, room: room, books: .init(), at: at(0)) == .reclaim(.bytes(4097)))
    }

    /// Many small ones are.
    @Test func smallValuesAddUp() {
        let ledger = AdmissionLedger()
        let books = MemoryBooks()
        var verdicts: [AdmissionLedger.Verdict] = []
        for _ in 0..<600 {
            books.note(4096)
            verdicts.append(ledger.verdict(on: 4096, room: room(0), books: books.reading, at: at(0)))
        }
        #expect(verdicts.first == .go)
        #expect(verdicts.last == .reclaim(.bytes(600 * 4096)))
    }

    @Test func whatWaitsIsAskedForButDoesNotKeepOthersWaiting() {
        var ledger = AdmissionLedger()
        for _ in 0..<3 {
            ledger.underWay += 10 << 20
            ledger.beginWaiting(10 << 20)
        }
        #expect(ledger.margin(in: room(0), .init()) == -30 << 20)
        #expect(!ledger.fits(10 << 20, in: room(9), .init()))
        #expect(ledger.fits(10 << 20, in: room(10), .init()))
        ledger.endWaiting(10 << 20)
        #expect(!ledger.fits(10 << 20, in: room(10), .init()), "the first takes its place")
        #expect(ledger.mayOverdraw(10 << 20, in: room(10), .init()))
        ledger.endWaiting(10 << 20)
        #expect(!ledger.mayOverdraw(10 << 20, in: room(10), .init()), "the overdraft is bytes, not loads")
    }

    /// It begins below the low mark and goes up to the high one.
    @Test func theBackgroundKeepsBetweenItsMarks() {
        var ledger = AdmissionLedger()
        var room = room(20)
        (room.low, room.high) = (30 << 20, 50 << 20)
        #expect(ledger.backgroundGoal(in: room, .init()) == 30 << 20)
        let freed = MemoryBooks.Reading(brought: 0, returned: 30 << 20)
        #expect(ledger.backgroundGoal(in: room, freed) == 0, "what it has freed since is there")
        let brought = MemoryBooks.Reading(brought: 10 << 20, returned: 30 << 20)
        #expect(ledger.backgroundGoal(in: room, brought) == 0, "between the marks it rests")
        ledger.underWay += 15 << 20
        #expect(ledger.backgroundGoal(in: room, brought) == 25 << 20, "what is under way counts")
    }

    /// A cache that is full and read is in no hurry; one in which somebody waits is.
    @Test func whatSomebodyWaitsForIsUrgent() {
        var ledger = AdmissionLedger()
        var room = room(20)
        (room.low, room.high) = (30 << 20, 50 << 20)
        #expect(!ledger.isUrgent(in: room, .init()))
        ledger.underWay += 5 << 20
        #expect(!ledger.isUrgent(in: room, .init()), "half of the low mark is left")
        ledger.underWay += 1
        #expect(ledger.isUrgent(in: room, .init()))
        #expect(!ledger.isUrgent(in: room, .init(brought: 0, returned: 1 << 20)))
        ledger.beside += 2 << 20
        #expect(ledger.isUrgent(in: room, .init(brought: 0, returned: 1 << 20)), "what the others bring counts")
        ledger = AdmissionLedger()
        ledger.beginWaiting(1)
        #expect(ledger.isUrgent(in: room, .init()))
        ledger.endWaiting(1)
        #expect(!ledger.isUrgent(in: room, .init()))
    }

    /// Of what was missing at the sample only one's part; of what the library has brought since all.
    @Test func inTheBackgroundAShortageIsShared() {
        let ledger = AdmissionLedger()
        var room = room(20, ownPart: 0.25)
        (room.low, room.high) = (30 << 20, 60 << 20)
        #expect(ledger.backgroundGoal(in: room, .init()) == 10 << 20)
        #expect(ledger.backgroundGoal(in: room, .init(brought: 0, returned: 10 << 20)) == 0)
        #expect(ledger.backgroundGoal(in: room, .init(brought: 6 << 20, returned: 10 << 20)) == 6 << 20)
    }

    /// Others may have taken memory meanwhile.
    @Test func onTheWordOfAnOldSampleOnlySoMuchIsBrought() {
        let ledger = AdmissionLedger()
        var room = room(1000)
        room.stride = 50 << 20
        let books = MemoryBooks.Reading(brought: 60 << 20, returned: 0)
        #expect(ledger.verdict(on: 4096, room: room, books: books, at: at(100)) == .look)
        #expect(ledger.verdict(on: 4096, room: room, books: books, at: at(10)) == .go)
        let traded = MemoryBooks.Reading(brought: 600 << 20, returned: 590 << 20)
        #expect(ledger.verdict(on: 4096, room: room, books: traded, at: at(100)) == .go)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func nothingIsLostOrCountedTwice(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ledger = AdmissionLedger()
        let books = MemoryBooks()
        var (open, resident): ([Int], [Int]) = ([], [])
        var room = AdmissionRoom(bytes: 1 << 30, takenAt: at(0))
        var residentAtSample = 0
        for step in 0..<500 as Range<Int64> {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                open.append(Int.random(in: 1...1000, using: &random))
                ledger.underWay += open.last!
            case 1 where !open.isEmpty:
                let bytes = open.remove(at: Int.random(in: 0..<open.count, using: &random))
                ledger.underWay -= bytes
                books.note(bytes)
                resident.append(bytes)
            case 2 where !resident.isEmpty:
                books.note(-resident.remove(at: Int.random(in: 0..<resident.count, using: &random)))
            default:
                room = AdmissionRoom(bytes: 1 << 30, takenAt: at(step), books: books.reading)
                residentAtSample = resident.reduce(0, +)
            }
            let margin = (1 << 30) - open.reduce(0, +) - (resident.reduce(0, +) - residentAtSample)
            #expect(ledger.margin(in: room, books.reading) == margin, "seed \(seed), step \(step)")
        }
    }
}
#endif
