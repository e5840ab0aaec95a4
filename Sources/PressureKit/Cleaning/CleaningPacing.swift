import PressureSystem

/// How fast work that nobody waits for may go: so many bytes a second, and a little ahead. Pure.
///
/// A token bucket (Turner, IEEE Communications 1986): what is not used is saved up to `burst`, what is used beyond that
/// is waited for.
package struct CleaningPacing: Hashable, Sendable {
    /// Bytes a second.
    package let rate: Int
    /// The most that is saved.
    package let burst: Int
    private var saved: Int
    private var last: MonotonicInstant?

    /// A pace; both numbers are at least 1.
    package init(rate: Int, burst: Int) {
        self.rate = max(1, rate)
        self.burst = max(1, burst)
        saved = self.burst
    }

    /// How long to wait before going on; zero when something is saved.
    package mutating func delay(at now: MonotonicInstant) -> Duration {
        if let last, now > last {
            let seconds = Double((now - last).nanoseconds) / 1e9
            saved = Int(min(Double(burst), Double(saved) + seconds * Double(rate)))
        }
        last = now
        guard saved <= 0 else { return .zero }
        return .nanoseconds(Int64((Double(1 - saved) / Double(rate) * 1e9).rounded(.up)))
    }

    /// Bytes were worked on.
    package mutating func use(_ bytes: Int) { saved -= bytes }
}

/// Which values have not been used for a while, in readings of the ``UseClock``. Pure.
///
/// The clock counts events, not time, so its reading is noted now and then: what was last used before the reading of
/// two notes ago has not been used for one to two intervals at least.
package struct ColdLine: Hashable, Sendable {
    /// The time from one note to the next.
    package static let interval = Duration.seconds(10)

    private var before: UInt32?
    private var last: (time: MonotonicInstant, reading: UInt32)?

    /// A line that nothing is behind yet.
    package init() {}

    /// Notes the clock's reading if it is time to. If it has moved, `tick` moves it on, so that later uses can be told
    /// from those before; if not, nobody has used anything.
    package mutating func note(_ reading: UInt32, at now: MonotonicInstant, tick: () -> UInt32) {
        if let last, now - last.time < Self.interval { return }
        before = last?.reading
        last = (now, last?.reading == reading ? reading : tick())
    }

    /// Whether a value that was last used at `stamp` has not been used for an interval.
    package func isBehind(_ stamp: UInt32) -> Bool {
        guard let before else { return false }
        // Ages are differences, so the clock's wrap does no harm.
        return !UseClock.isReading(stamp, after: before)
    }

    package static func == (left: ColdLine, right: ColdLine) -> Bool {
        left.before == right.before && left.last?.time == right.last?.time && left.last?.reading == right.last?.reading
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(before)
        hasher.combine(last?.reading)
    }
}
