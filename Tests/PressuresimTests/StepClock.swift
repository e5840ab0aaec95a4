import PressureKit

/// A clock that stands still unless it is moved.
final class StepClock: MonotonicClock {
    private let time = Lock(MonotonicInstant(nanoseconds: 1_000_000_000))

    func now() -> MonotonicInstant { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}
