import CLinuxShims

/// A point on a clock that never goes back, in nanoseconds since an unspecified origin.
package struct MonotonicInstant: Hashable, Comparable, Sendable, BitwiseCopyable {
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

    /// Work was done on so many plain bytes, just now and on this thread. A clock that goes by itself has seen the time
    /// pass, and does nothing, which is the default; a virtual one moves on. Allocates nothing.
    func spent(on work: TimedWork, byteCount: Int)
}

extension MonotonicClock {
    package func spent(on work: TimedWork, byteCount: Int) {}
}

/// Work of the library's own that takes time in proportion to bytes. What a device does is not here: the file system
/// knows it.
package enum TimedWork: Hashable, Sendable {
    /// A codec made a chunk shorter, or tried.
    case compressing
    /// A codec made a chunk's plain bytes again.
    case decompressing
    /// A value's memory was given back.
    case releasing
}

/// The kernel's CLOCK_MONOTONIC.
package struct SystemClock: MonotonicClock {
    package init() {}

    package func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: pk_monotonic_nanoseconds()) }
}
