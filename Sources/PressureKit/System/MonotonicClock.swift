import CLinuxShims

/// A point on a clock that never goes back, in nanoseconds since an unspecified origin.
package struct MonotonicInstant: Hashable, Comparable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `duration` later.
    package static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: instant.nanoseconds + duration.nanoseconds)
    }

    /// The time from `right` to `left`.
    package static func - (left: MonotonicInstant, right: MonotonicInstant) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}

extension Duration {
    /// The whole nanoseconds of this duration; about 292 years fit.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

/// Where the library reads the time. Injected, so that tests run on a clock they move by hand.
package protocol MonotonicClock: Sendable {
    /// The present instant. Allocates nothing and may be called on any thread.
    func now() -> MonotonicInstant
}

/// The kernel's CLOCK_MONOTONIC.
package struct SystemClock: MonotonicClock {
    package init() {}

    package func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: pk_monotonic_nanoseconds()) }
}
