import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Who of several that wait for memory goes, and when: what comes free is there once, and where nothing does not all go at once.
@Suite(.timeLimit(.minutes(5))) struct AdmissionWaitingTests {
    typealias Bank = AdmissionTests.Bank

    /// One reclaim answers all who wait for it: what it has freed is there once.
    @Test func whatWasFreedForManyLetsInThoseWhomItFits() throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        let answers = Lock<[@Sendable (ByteCount) -> Void]>([])
        admission.connect(
            Admission.Supply(
                room: { AdmissionRoom(bytes: 0, takenAt: bank.clock.now()) },
                refresh: { AdmissionRoom(bytes: 0, takenAt: bank.clock.now()) },
                reclaim: { _, done in answers.withLock { $0.append(done) } }
            )
        )
        let entered = ConditionLock(0)
        for number in 0..<3 {
            try WorkerThread.spawn("reader-\(number)") {
                _ = admission.admit(8 << 20)
                entered.withLock { $0 += 1 }
            }
        }
        while answers.withLock({ $0.count }) < 3 { sched_yield() }
        bank.books.note(-12 << 20)
        for answer in answers.withLock({ $0 }) { answer(.mebibytes(12)) }
        bank.books.wake()
        entered.wait { $0 >= 1 ? () : nil }
        #expect(
            entered.wait(atMost: .milliseconds(100)) { $0 > 1 ? () : nil } == nil,
            "eight of twelve mebibytes are taken"
        )
        for number in 2...3 {
            bank.books.note(-8 << 20)
            entered.wait { $0 >= number ? () : nil }
        }
    }

    /// What loaders leave in the heap is in no books: by the word of an old sample there would be room for all.
    @Test func whoWaitsLooksAtNoOldSample() throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600))
        let (asked, comes) = (Shared(0), Shared(true))
        let room = Lock(AdmissionRoom(bytes: 0, takenAt: bank.clock.now()))
        admission.connect(
            Admission.Supply(
                room: { room.withLock { $0 } },
                refresh: { nil },
                ask: {
                    asked.change { $0 += 1 }
                    return comes.value
                },
                reclaim: { _, _ in }
            )
        )
        let (pass, supply) = admission.begin(8 << 20, isLoaded: false)
        let asking = try #require(supply)
        var wait = try #require(admission.beginWaiting(for: pass, .mebibytes(8), asking))
        func isToWait() -> Bool {
            guard case .lacks = admission.look(&wait) else { return false }
            return true
        }
        // The books say that there is room by now.
        bank.books.note(8 << 20)
        bank.books.note(-16 << 20)
        bank.clock.advance(by: .milliseconds(21))
        #expect(isToWait() && isToWait() && asked.value == 2)
        // A source that has no news has been asked all the same.
        room.withLock { $0.askedAt = bank.clock.now() }
        bank.clock.advance(by: .milliseconds(20))
        #expect(!isToWait() && asked.value == 2, "it has gone on")
        admission.end(pass)
        func waitAgain() throws -> Admission.Pass {
            let (next, _) = admission.begin(8 << 20, isLoaded: false)
            wait = try #require(admission.beginWaiting(for: next, .mebibytes(8), asking))
            return next
        }
        // Who gets a processor late goes by what he has asked for, once.
        let late = try waitAgain()
        bank.clock.advance(by: .milliseconds(1))
        #expect(isToWait() && asked.value == 3)
        room.withLock { $0.askedAt = bank.clock.now() }
        bank.books.note(8 << 20)
        bank.clock.advance(by: .milliseconds(90))
        #expect(isToWait() && asked.value == 3, "there is no room")
        bank.books.note(-8 << 20)
        #expect(isToWait() && asked.value == 4)
        room.withLock { $0.askedAt = bank.clock.now() }
        bank.clock.advance(by: .milliseconds(90))
        #expect(!isToWait() && asked.value == 4)
        admission.end(late)
        // Where none comes by itself, the last one has to do.
        comes.change { $0 = false }
        _ = try waitAgain()
        #expect(!isToWait() && asked.value == 5)
    }

    /// Where nothing comes free, all who wait would go at the same moment, each after its own patience.
    @Test func whereNothingMovesOneGoesAtATime() throws {
        let admission = Bank(room: .zero) { _ in nil }.admission()
        func beginWaiting() throws -> (Admission.Pass, Admission.Wait) {
            let (pass, supply) = admission.begin(8 << 20, isLoaded: false)
            let wait = admission.beginWaiting(for: pass, .mebibytes(8), try #require(supply))
            return (pass, try #require(wait))
        }
        var (first, second, third) = (try beginWaiting(), try beginWaiting(), try beginWaiting())
        #expect(admission.isOver(&first.1, nil))
        #expect(!admission.isOver(&second.1, nil) && !admission.isOver(&third.1, nil), "the first is at it")
        admission.end(first.0)
        #expect(admission.isOver(&second.1, nil))
        // The second hangs.
        for _ in 2...9 { #expect(!admission.isOver(&third.1, nil)) }
        #expect(admission.isOver(&third.1, nil))
        #expect(admission.counts.overdrawn == 3)
    }

    /// What a loader reads from another cache is what it waits for: the load around it will not end before.
    @Test func aLoadWithinALoadDoesNotWaitForThat() throws {
        let bank = Bank(room: .zero) { _ in nil }
        let admission = bank.admission(patience: .milliseconds(1))
        let outer = admission.admit(5 << 20)
        let (pass, supply) = admission.begin(8 << 20, isLoaded: false)
        let begun = admission.beginWaiting(for: pass, .mebibytes(8), try #require(supply), isNested: true)
        var wait = try #require(begun)
        #expect(admission.isOver(&wait, nil), "after its patience, as before")
        admission.end(pass)
        admission.end(outer)
        // Nor before there is a sample.
        let unwatched = Bank(room: nil) { $0 }.admission(patience: .seconds(3600), firstLimit: 64 << 20)
        let first = unwatched.admit(60 << 20)
        unwatched.end(unwatched.admit(30 << 20, isNested: true))
        unwatched.end(first)
    }

    @Test func aLoaderThatReadsAnotherCacheIsAroundIt() throws {
        let seen = Shared<[Bool]>([])
        let manager = try makeManager()
        let inner = try manager.root.cache("inner") { () -> [UInt8] in
            seen.change { $0.append(Load.isAround) }
            return [1]
        }
        let outer = try manager.root.cache("outer") { () -> [UInt8] in
            seen.change { $0.append(Load.isAround) }
            return try inner.value()
        }
        #expect(!Load.isAround)
        #expect(try outer.value() == [1])
        #expect(seen.value == [true, true] && !Load.isAround)
    }

    /// A process that begins with many large values, before anybody has looked.
    @Test func beforeTheFirstSampleAQuarterOfTheLimitIsLetInAtATime() throws {
        let bank = Bank(room: nil) { $0 }
        let admission = bank.admission(patience: .seconds(3600), firstLimit: 64 << 20)
        // Taken for a sixteenth of the limit, and as much again that they are made of.
        let first = admission.admit(0, isLoaded: true)
        #expect(first.bytes == 8 << 20)
        let second = admission.admit(0, isLoaded: true)
        let entered = ConditionLock(0)
        for number in 0..<2 {
            try WorkerThread.spawn("reader-\(number)") {
                _ = admission.admit(0, isLoaded: true)
                entered.withLock { $0 += 1 }
            }
        }
        #expect(entered.wait(atMost: .milliseconds(100)) { $0 > 0 ? () : nil } == nil)
        admission.end(first)
        entered.wait { $0 == 1 ? () : nil }
        #expect(bank.wanted.isEmpty, "nothing is known to be missing")
        // A sample says how much there is.
        bank.state.withLock { $0.room = AdmissionRoom(bytes: 100 << 20, takenAt: bank.clock.now()) }
        bank.books.wake()
        entered.wait { $0 == 2 ? () : nil }
        admission.end(second)
    }

    /// 64 readers begin at once, and each value is taken for a sixteenth of the limit. When the first has come, the others wait
    /// for what they will take: for as much as they were taken for there may never be room.
    @Test func whoWaitsWithAnAssumedSizeLearnsTheRealOne() async throws {
        let bank = Bank(room: nil) { _ in nil }
        let admission = bank.admission(patience: .seconds(3600), firstLimit: 64 << 20)
        let first = admission.admit(0, isLoaded: true)
        func beginWaiting() throws -> Admission.Wait {
            let (pass, supply) = admission.begin(0, isLoaded: true)
            let begun = admission.beginWaiting(for: pass, .mebibytes(8), try #require(supply))
            return try #require(begun)
        }
        var (second, third) = (try beginWaiting(), try beginWaiting())
        var room = AdmissionRoom(bytes: 1 << 20, takenAt: bank.clock.now())
        // Of a limit of 20 MiB, by which values are taken for 1.25.
        room.stride = 1 << 20
        bank.state.withLock { $0.room = room }
        #expect(admission.look(&second) == .lacks(15 << 20), "eight mebibytes and the first's do not fit one")
        let task = Task { try await admission.admitSuspending(0, isLoaded: true) }
        while admission.sleepers.count == 0 { await Task.yield() }
        #expect(admission.state.ledger.underWay == 3 * (8 << 20) + 2 * (5 << 18))
        bank.books.note(4096)
        admission.end(first)
        #expect(admission.look(&second) == .found(.reclaimed) && admission.look(&third) == .found(.reclaimed))
        #expect(second.pass.bytes == 8192 && third.pass.bytes == 8192)
        let fourth = try await task.value
        #expect(fourth.bytes == 8192)
        #expect(admission.state.ledger.underWay == 3 * 8192 && admission.state.ledger.waiting == 0)
        for pass in [second.pass, third.pass, fourth] { admission.end(pass) }
        #expect(admission.state.ledger.underWay == 0)
        // Values may be larger than was assumed, too.
        let other = Bank(room: nil) { _ in nil }
        let large = other.admission(patience: .seconds(3600), firstLimit: 16 << 20)
        let (pass, supply) = large.begin(0, isLoaded: true)
        let begun = large.beginWaiting(for: pass, .mebibytes(2), try #require(supply))
        var wait = try #require(begun)
        other.books.note(3 << 20)
        _ = large.look(&wait)
        #expect(pass.bytes == 2 << 20 && wait.pass.bytes == 6 << 20 && large.state.ledger.underWay == 6 << 20)
    }
}
