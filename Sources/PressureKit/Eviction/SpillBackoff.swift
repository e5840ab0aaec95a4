import PressureSystem

/// When to try writing again after writes have failed. Pure.
///
/// One failure is an accident: the next value is tried. Three in a row, or a full disk, suspend writing for a second,
/// and for twice as long each time it fails again, up to a minute; so a disk that has no room is not hammered, and one
/// that has room again is noticed. The first write that succeeds ends it.
package struct SpillBackoff: Sendable {
    /// Failures in a row that suspend writing, if the disk is not full.
    static let patience = 3
    private static let first = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    private var failuresInARow = 0
    private var pause: Duration?
    private var resumesAt: MonotonicInstant?

    /// Creates a back-off in which nothing has failed.
    package init() {}

    /// Whether a write may be tried.
    package func allowsWriting(at now: MonotonicInstant) -> Bool { resumesAt.map { now >= $0 } ?? true }

    /// A write succeeded.
    package mutating func noteSuccess() { self = SpillBackoff() }

    /// A write failed.
    package mutating func noteFailure(isDiskFull: Bool, at now: MonotonicInstant) {
        failuresInARow += 1
        guard isDiskFull || failuresInARow >= Self.patience else { return }
        let next = pause.map { min($0 * 2, Self.longest) } ?? Self.first
        // Failures of values that were under way at the same time are one failure.
        if let resumesAt, now < resumesAt { return }
        pause = next
        resumesAt = now + next
    }
}
