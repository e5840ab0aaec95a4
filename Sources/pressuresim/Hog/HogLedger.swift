import PressureKit

/// What a hog holds at the moment, for whoever interrupts it.
final class HogLedger: Sendable {
    private struct State {
        var held = ByteCount.zero
        var lastTaken: MonotonicInstant
    }

    private let clock: any MonotonicClock
    private let start: MonotonicInstant
    private let state: Lock<State>

    /// The hog begins now.
    init(clock: any MonotonicClock = SystemClock()) {
        self.clock = clock
        start = clock.now()
        state = Lock(State(lastTaken: start))
    }

    /// So much is held now, some of it since just now.
    func note(_ held: ByteCount) {
        let now = clock.now()
        state.withLock { $0 = State(held: held, lastTaken: now) }
    }

    /// What it would have done if it ended now.
    var outcome: Hog.Outcome {
        let state = state.withLock { $0 }
        return Hog.Outcome(
            taken: state.held,
            filling: state.lastTaken - start,
            held: clock.now() - state.lastTaken,
            stoppedBy: nil
        )
    }
}
