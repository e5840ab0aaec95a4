import PressureKit
import Testing

@testable import pressuresim

/// The hog on virtual time: no clock, no memory.
@Suite struct HogPaceTests {
    /// What a hog has taken by when, if it is always on time.
    private static func play(_ pace: HogPace, hiccup: (after: Int, Duration)? = nil) -> [(at: Duration, held: Int)] {
        var pace = pace
        var now = Duration.zero
        var history: [(at: Duration, held: Int)] = []
        while true {
            switch pace.next(at: now) {
            case .take:
                history.append((now, pace.held))
                if let hiccup, history.count == hiccup.after { now += hiccup.1 }
            case .wait(let duration):
                #expect(duration > .zero)
                now += duration
            case .done:
                history.append((now, pace.held))
                return history
            }
        }
    }

    @Test(arguments: [64 * 1024.0, 1e6, 500e6, 20e9])
    func neverAheadOfItsRateAndNeverAStepBehind(rate: Double) {
        let pace = HogPace(rate: rate, ceiling: .mebibytes(64), hold: .zero)
        for (at, held) in Self.play(pace) {
            #expect(Double(held) <= rate * at.seconds * 1.000001 + 1)
            #expect(Double(held + pace.step) >= min(rate * at.seconds, Double(pace.ceiling)))
        }
    }

    @Test func neverMoreThanTheCeiling() {
        let history = Self.play(HogPace(rate: 1e9, ceiling: .bytes(10_000_001), hold: .zero))
        #expect(history.last?.held == 10_000_001)
    }

    @Test func theCeilingIsHeldAsLongAsAsked() {
        let history = Self.play(HogPace(rate: 1e9, ceiling: .mebibytes(10), hold: .seconds(7)))
        #expect(history[history.count - 1].at - history[history.count - 2].at == .seconds(7))
    }

    /// A second without the processor is not followed by a second's worth at once.
    @Test func aStandstillIsMadeUpForByATenthOfASecondAtMost() {
        let pace = HogPace(rate: 100e6, ceiling: .mebibytes(64), hold: .zero)
        let history = Self.play(pace, hiccup: (after: 10, .seconds(1)))
        let wake = history[10]
        let burst = history.filter { $0.at == wake.at }.count * pace.step
        #expect(Double(burst) <= 100e6 * 0.1 + Double(2 * pace.step), "\(burst) at once")
        #expect(history.last!.at > .seconds(1.5))
    }

    @Test func stoppedItHoldsWhatItHas() {
        var pace = HogPace(rate: 1e9, ceiling: .gibibytes(1), hold: .seconds(1))
        guard case .wait(let first) = pace.next(at: .zero), case .take = pace.next(at: first) else {
            Issue.record("does not begin")
            return
        }
        var stopped = pace.stopped(at: .seconds(2))
        #expect(stopped.next(at: .seconds(2)) == .wait(.seconds(1)))
        #expect(stopped.next(at: .seconds(3)) == .done)
        #expect(stopped.held == pace.held)
    }
}
