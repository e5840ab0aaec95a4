@testable import PressureKit

/// A classifier on virtual time, fed by headroom in MiB of 1,000 MiB: warning is 200 to 250, critical 100 to 150.
struct ClassifierBench {
    static let limit = ByteCount.mebibytes(1000)

    var classifier: PressureClassifier
    var now = MonotonicInstant(nanoseconds: 0)
    var nextPoll = Duration.zero

    init(sources: Int = 1) { classifier = PressureClassifier(thresholds: PressureThresholds(), sources: sources) }

    var level: PressureLevel { classifier.level }

    static func headroom(
        _ mebibytes: Int,
        unwritten: Int = 0,
        kept: Int = 0,
        at instant: MonotonicInstant,
        source: String = "test"
    ) -> SignalReading {
        let headroom = Headroom(
            available: .mebibytes(mebibytes),
            limit: limit,
            unwritten: .mebibytes(unwritten),
            kept: .mebibytes(kept)
        )!
        return SignalReading(origin: .memoryInfo, source: source, measure: .headroom(headroom), takenAt: instant)
    }

    static func demand(_ level: PressureLevel, freeing: ByteCount? = nil, at instant: MonotonicInstant) -> SignalReading
    {
        SignalReading(
            origin: .simulated,
            source: "demand",
            measure: .demand(level, freeing: freeing),
            takenAt: instant
        )
    }

    /// One step with these readings, `pause` after the step before.
    @discardableResult
    mutating func step(after pause: Duration = .zero, _ readings: SignalReading?...) -> PressureDecision? {
        now = now + pause
        let (decision, nextPoll) = classifier.step(readings, at: now)
        self.nextPoll = nextPoll
        return decision
    }

    /// One step with so many MiB available, `pause` after the step before.
    @discardableResult
    mutating func step(after pause: Duration = .zero, available: Int) -> PressureDecision? {
        step(after: pause, Self.headroom(available, at: now + pause))
    }

    /// Two steps 100 ms apart, so that a crossing is proven.
    @discardableResult
    mutating func settle(after pause: Duration = .zero, available: Int) -> PressureDecision? {
        step(after: pause, available: available)
        return step(after: .milliseconds(100), available: available)
    }

    /// Steps with a steady headroom for some time, each `every` after the other; all that was decided, with the time
    /// since the start of this call in milliseconds.
    mutating func hold(
        available: Int,
        for time: Duration,
        every: Duration = .seconds(1)
    ) -> [(at: Int64, decision: PressureDecision)] {
        let start = now
        var decisions: [(at: Int64, decision: PressureDecision)] = []
        while now - start < time {
            if let decision = step(after: every, available: available) {
                decisions.append(((now - start).nanoseconds / 1_000_000, decision))
            }
        }
        return decisions
    }
}
