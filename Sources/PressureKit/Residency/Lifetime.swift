import PressureSystem

/// For how long a cache's values may be read, and from when on they are loaded anew ahead of time. Pure: what time it is
/// comes from outside.
struct Lifetime: Sendable, Hashable {
    /// What becomes of a value of a certain age.
    enum Stage: Sendable {
        case fresh
        /// It is read, and loaded anew meanwhile.
        case due
        /// It is read no more.
        case over
    }

    /// From the write on; `nil` for ever.
    let toLive: UInt32?
    /// From the last read on, or the write if nobody has read it since.
    let toIdle: UInt32?
    /// From the write on.
    let toRefresh: UInt32?

    /// `nil` where nothing ends.
    init?(timeToLive: Duration?, timeToIdle: Duration?, refreshAfter: Duration?) {
        guard timeToLive != nil || timeToIdle != nil || refreshAfter != nil else { return nil }
        toLive = timeToLive.map(Self.ticks)
        toIdle = timeToIdle.map(Self.ticks)
        toRefresh = refreshAfter.map(Self.ticks)
    }

    func stage(of age: ValueAge, at now: UInt32) -> Stage {
        // Differences, which survive that 32 bits wrap.
        let sinceWrite = now &- age.written
        if let toLive, sinceWrite >= toLive { return .over }
        if let toIdle, now &- age.read >= toIdle { return .over }
        if let toRefresh, sinceWrite >= toRefresh { return .due }
        return .fresh
    }

    // MARK: Ticks

    /// A tick has 2²⁴ ns, a sixtieth of a second: two times of 32 bits are one word of a slot, and wrap after two years.
    private static let tickShift = 24

    /// The tick of a reading.
    static func tick(at time: MonotonicInstant) -> UInt32 {
        UInt32(truncatingIfNeeded: time.nanoseconds >> tickShift)
    }

    /// The whole ticks that are nearest, at least one. What is longer than a year is a year, long before they wrap.
    private static func ticks(_ duration: Duration) -> UInt32 {
        let nanoseconds = min(duration, .seconds(365 * 86_400)) / .nanoseconds(1)
        return max(1, UInt32((nanoseconds / Double(1 << tickShift)).rounded()))
    }
}

/// When a value was written, and when it was last read, in ticks of a ``Lifetime``.
struct ValueAge: RawRepresentable, Sendable, Hashable {
    var rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Of a value that is written now.
    init(written now: UInt32) { rawValue = UInt64(now) << 32 | UInt64(now) }

    var written: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

    var read: UInt32 { UInt32(truncatingIfNeeded: rawValue) }

    /// The same, read now.
    func read(at now: UInt32) -> ValueAge {
        ValueAge(rawValue: rawValue & ~UInt64(UInt32.max) | UInt64(now))
    }
}
