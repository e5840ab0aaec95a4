#if Redis
import PressureSystem
import SystemPackage

/// When to try connecting again to a server that could not be reached. Pure.
///
/// Until then requests fail at once, as the last one did: nobody who waits for a value waits for a server that is not there,
/// and one that comes back is not met by all at the same time.
struct ReconnectDelay {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(5)

    private var pause: Duration?
    private var resumesAt: MonotonicInstant?
    private var last = Errno.connectionRefused

    /// Why not to try now; `nil` to try.
    func refusal(at now: MonotonicInstant) -> Errno? { resumesAt.map { now < $0 } ?? false ? last : nil }

    /// The server let us in.
    mutating func noteSuccess() { self = ReconnectDelay() }

    /// It did not.
    mutating func noteFailure(_ errno: Errno, at now: MonotonicInstant) {
        last = errno
        // Several that failed at the same time are one failure.
        if let resumesAt, now < resumesAt { return }
        let next = pause.map { min($0 * 2, Self.longest) } ?? Self.first
        pause = next
        resumesAt = now + next
    }
}
#endif
