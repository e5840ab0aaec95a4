package import PressureKit
import Synchronization

/// A clock that stands still until it is told to move.
public final class ManualClock: Sendable {
    private let time = Atomic<Int64>(0)

    /// A clock at its origin.
    public init() {}

    /// The time that has passed since it was made.
    public var elapsed: Duration { .nanoseconds(time.load(ordering: .sequentiallyConsistent)) }

    /// Moves the clock on by `duration`. Safe on any thread.
    public func advance(by duration: Duration) {
        time.wrappingAdd(duration.nanoseconds, ordering: .sequentiallyConsistent)
    }
}

extension ManualClock: MonotonicClock {
    package func now() -> MonotonicInstant {
        MonotonicInstant(nanoseconds: time.load(ordering: .sequentiallyConsistent))
    }
}
