import PressureKit
import Synchronization

/// The system's clock, ahead of it by the time that nobody waited for.
final class SkippingClock: MonotonicClock {
    private let skipped = Atomic<Int64>(0)

    func now() -> MonotonicInstant {
        SystemClock().now() + .nanoseconds(skipped.load(ordering: .relaxed))
    }

    /// Goes ahead.
    func skip(_ duration: Duration) { skipped.wrappingAdd(duration.nanoseconds, ordering: .relaxed) }
}
