import PressureSystem

/// How often counts are told on, and how often all values are gone through for them. Pure.
struct MeterPace: Sendable {
    /// What is to be told on now.
    struct Due: Hashable, Sendable {
        /// What is known at once.
        var counts = false
        /// What takes time in proportion to the number of values.
        var tiers = false
    }

    private static let pause = Duration.seconds(1)
    /// Going through all values takes no more than this part of the time.
    private static let share = 100

    private var counts: MonotonicInstant?
    private var tiers: MonotonicInstant?

    /// What is due after a sample.
    ///
    /// - Parameter isNormal: whether there is no pressure: otherwise the monitor has better things to do.
    mutating func due(at now: MonotonicInstant, isNormal: Bool) -> Due {
        var due = Due()
        due.counts = counts.map { now >= $0 } ?? true
        due.tiers = due.counts && isNormal && (tiers.map { now >= $0 } ?? true)
        if due.counts { counts = now + Self.pause }
        return due
    }

    /// Going through all values has ended, having taken so long.
    mutating func noteTiers(_ duration: Duration, at now: MonotonicInstant) {
        tiers = now + max(Self.pause, duration * Self.share)
    }
}
