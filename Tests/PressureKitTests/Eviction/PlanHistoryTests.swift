import PressureKit
import Testing

@Suite struct PlanHistoryTests {
    @Test func looksAsFarAheadAsItLooksBack() {
        var history = PlanHistory(start: 100)
        #expect(history.begin(at: 400, count: 10).horizon == 300)
        #expect(history.begin(at: 500, count: 10).horizon == 200)
        #expect(history.begin(at: 500, count: 10).horizon == 100)
    }

    @Test func alwaysLooksAhead() {
        var history = PlanHistory(start: 5)
        for _ in 0..<10 { #expect(history.begin(at: 5, count: 0).horizon >= 1) }
    }

    /// The clock has 32 bits and wraps.
    @Test func survivesTheClocksWrap() {
        var history = PlanHistory(start: .max - 10)
        #expect(history.begin(at: 9, count: 10).horizon == 20)
        #expect(history.begin(at: 29, count: 10).horizon == 20)
        #expect(Candidate(footprint: 1, stamp: .max, method: .drop, isVisible: false, depth: 0).age(at: 1) == 2)
    }

    @Test func hitsFadeOnceForEachTurnover() {
        var history = PlanHistory(start: 0)
        #expect(!history.begin(at: 40, count: 100).fades)
        #expect(!history.begin(at: 80, count: 100).fades)
        #expect(history.begin(at: 120, count: 100).fades)
        #expect(!history.begin(at: 160, count: 100).fades)
        #expect(history.begin(at: 220, count: 100).fades)
    }

    @Test func remembersTheHand() {
        var history = PlanHistory(start: 0)
        history.note(hand: 7)
        #expect(history.begin(at: 1, count: 1).hand == 7)
    }

    @Test func theLaterDeadlineHolds() {
        let (early, late) = (MonotonicInstant(nanoseconds: 1), MonotonicInstant(nanoseconds: 2))
        let everything = ReclaimAmount.everything
        #expect(everything.by(early).merged(with: everything.by(late)).deadline == late)
        #expect(everything.by(late).merged(with: .bytes(5).by(early)).deadline == late)
        // Without one, a wish is not cut short.
        #expect(everything.merged(with: everything.by(early)).deadline == nil)
        #expect(everything.by(early).merged(with: everything).deadline == nil)
        // Who wants nothing has no say.
        #expect(everything.by(early).merged(with: .bytes(0)).deadline == early)
        #expect(ReclaimAmount.bytes(0).merged(with: everything.by(early)).deadline == early)
    }

    @Test func costsGrowWithBytesButForTheLatency() {
        #expect(CostEstimate.scaled(520_000, from: 1000, to: 2000) == 1_020_000)
        #expect(CostEstimate.scaled(10_000, from: 1000, to: 2000) == 10_000)
        #expect(CostEstimate.scaled(10_000, from: 0, to: 2000) == 10_000)
        #expect(CostEstimate.restore(byteCount: 1 << 20) < CostEstimate.write(byteCount: 1 << 20))
    }
}
