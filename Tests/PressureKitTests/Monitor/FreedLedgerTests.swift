#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import Testing

@testable import PressureKit
@testable import PressureSignals

@Suite struct FreedLedgerTests {
    private func at(_ nanoseconds: Int) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(nanoseconds)) }

    @Test func countsWhatCameAfterAnInstant() {
        var ledger = FreedLedger()
        ledger.note(.bytes(3), at: at(10))
        ledger.note(.bytes(5), at: at(20))
        #expect(ledger.freed(since: at(9)) == .bytes(8))
        #expect(ledger.freed(since: at(10)) == .bytes(5))
        #expect(ledger.freed(since: at(19)) == .bytes(5))
        #expect(ledger.freed(since: at(20)) == .zero)
    }

    @Test func nothingAndLessThanNothingAreNotNoted() {
        var ledger = FreedLedger()
        ledger.note(.zero, at: at(10))
        ledger.note(.bytes(-5), at: at(10))
        #expect(ledger.freed(since: at(0)) == .zero)
    }

    @Test func sumsThatDoNotFitStayLarge() {
        var ledger = FreedLedger()
        for time in 1...20 { ledger.note(.bytes(.max), at: at(time)) }
        #expect(ledger.freed(since: at(0)) == .bytes(.max))
    }

    /// Against an endless list: exact while the ledger has room for what is asked about, and never less than the truth.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func forgetsNothingThatIsNew(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ledger = FreedLedger()
        var model: [(at: Int, bytes: Int)] = []
        for step in 1...200 {
            // Now and then a note comes late.
            let time = step * 10 - (Int.random(in: 0..<5, using: &random) == 0 ? 25 : 0)
            let bytes = Int.random(in: 1...1000, using: &random)
            ledger.note(.bytes(bytes), at: at(time))
            model.append((time, bytes))
            let asked = Int.random(in: -30...step * 10 + 10, using: &random)
            let truth = model.filter { $0.at > asked }.map(\.bytes).reduce(0, +)
            let found = ledger.freed(since: at(asked)).bytes
            #expect(found >= truth || asked < step * 10 - 80, "seed \(seed), step \(step)")
            if asked < -15 || asked >= step * 10 - 40 { #expect(found == truth, "seed \(seed), step \(step)") }
        }
    }
}

extension FreedLedgerTests {
    /// However often something was freed, what every sample shows is off no later goal.
    @Test func whatASampleShowsIsForgotten() {
        var ledger = FreedLedger()
        for time in 1...1_000 { ledger.note(.mebibytes(1), at: at(time)) }
        #expect(ledger.freed(since: at(992)) > .mebibytes(900), "the sum of all, under the time of the eighth but last")
        ledger.forget(until: at(1_000))
        for time in 1_001...1_003 { ledger.note(.mebibytes(1), at: at(time)) }
        #expect(ledger.freed(since: at(1_000)) == .mebibytes(3))
        ledger.forget(until: at(1_002))
        #expect(ledger.freed(since: at(1_000)) == .mebibytes(1))
    }
}
#endif
