/// What `memory.events` of a cgroup (version 2) has counted since the cgroup was made. See
/// `Documentation/admin-guide/cgroup-v2.rst` of the kernel.
package struct EventCounters: Hashable, Sendable {
    /// How often its tasks were slowed down and made to reclaim because usage was above `memory.high`.
    package var high: Int
    /// How often usage was about to go above `memory.max`. Harmless where page cache gave way.
    package var max: Int
    /// How often an allocation was about to fail at the limit.
    package var oom: Int
    /// How many processes were killed.
    package var oomKill: Int

    /// Creates counters.
    package init(high: Int = 0, max: Int = 0, oom: Int = 0, oomKill: Int = 0) {
        self.high = high
        self.max = max
        self.oom = oom
        self.oomKill = oomKill
    }

    /// Reads the text of the file. Pure; allocates nothing; any bytes are safe. A counter that is missing is 0.
    ///
    /// - Returns: `nil` when there is neither `high` nor `max`.
    package static func parse(_ text: borrowing Span<UInt8>) -> EventCounters? {
        let high = text.number(keyed: "high")
        let max = text.number(keyed: "max")
        guard high != nil || max != nil else { return nil }
        return EventCounters(
            high: high ?? 0,
            max: max ?? 0,
            oom: text.number(keyed: "oom") ?? 0,
            oomKill: text.number(keyed: "oom_kill") ?? 0
        )
    }

    /// What was counted since `earlier`; `nil` when a counter has gone back, as in another cgroup of the same name.
    package func growth(since earlier: EventCounters) -> EventCounters? {
        let growth = EventCounters(
            high: high - earlier.high,
            max: max - earlier.max,
            oom: oom - earlier.oom,
            oomKill: oomKill - earlier.oomKill
        )
        return growth.high < 0 || growth.max < 0 || growth.oom < 0 || growth.oomKill < 0 ? nil : growth
    }
}
