/// What the planner knows of one value that could leave memory. Trivial and 40 bytes, so that a million of them are one
/// buffer.
package struct Candidate: Sendable {
    /// How the value may leave memory.
    package enum Method: UInt8, Sendable {
        /// A checked copy exists: releasing is one free.
        case release
        /// The loader is cheaper than a restore: release, and let the loader make it again.
        case drop
        /// A copy has to be written to the spill file first.
        case spill
        /// A copy has to be written to the compressed tier in memory first.
        case compress

        /// Whether a copy has to be written first.
        @inlinable package var needsCopy: Bool { self == .spill || self == .compress }
    }

    /// Bytes that come back.
    package var footprint: Int
    /// The ``UseClock`` reading of its last use.
    package var stamp: UInt32
    /// The ``UseClock`` reading when it came into memory.
    package var arrival: UInt32
    /// Nanoseconds to read it back from its copy.
    package var restoreCost: Float
    /// Nanoseconds for the loader to make it again; infinite when there is no loader, or none that was ever timed.
    package var reloadCost: Float
    /// Nanoseconds for one thread to write its copy; 0 when it has one or needs none, or nobody waits for that.
    package var writeCost: Float
    /// Where its bytes lie: the number of the ``HeapRegions`` region; 0 for unknown or not asked. In a plan that keeps to some
    /// regions, the turn of its region.
    package var region: UInt32
    /// Its controller's distance from the root.
    package var depth: UInt16
    /// How it would leave.
    package var method: Method
    /// In how many ticks of the ``UseClock`` it was used again, up to ``ResidencyWord/mostHits``; halved by every
    /// reclaim that spares it, and kept while it is out of memory.
    package var hits: UInt8
    /// Whether its controller is visible.
    package var isVisible: Bool
    /// Whether memory is wanted now, so that what costs nothing to release goes before all that has to be written.
    package var isUrgent: Bool
    /// How often it was used, long ago less: ``UseRecord/level``.
    package var level: UInt8
    /// Whether it came back soon after an eviction, and no reclaim has spared it since.
    package var hasRefaulted: Bool

    /// Creates a candidate.
    package init(
        footprint: Int,
        stamp: UInt32,
        method: Method,
        isVisible: Bool,
        depth: UInt16,
        arrival: UInt32 = 0,
        hits: UInt8 = 0,
        hasRefaulted: Bool = false,
        level: UInt8 = 0,
        restoreCost: Float = 0,
        reloadCost: Float = .infinity,
        writeCost: Float = 0,
        isUrgent: Bool = true,
        region: UInt32 = 0
    ) {
        self.footprint = footprint
        self.stamp = stamp
        self.arrival = arrival
        self.restoreCost = restoreCost
        self.reloadCost = reloadCost
        self.writeCost = writeCost
        self.depth = depth
        self.method = method
        self.hits = hits
        self.isVisible = isVisible
        self.hasRefaulted = hasRefaulted
        self.isUrgent = isUrgent
        self.level = level
        self.region = region
    }
}

extension Candidate {
    /// 0: free and hidden, 1: free and visible, 2: to be written and hidden, 3: to be written and visible. Where memory is
    /// not urgent, what has to be written is no worse: it is written once, and nobody waits for it.
    package var evictionClass: UInt8 { (isUrgent && method.needsCopy ? 2 : 0) | (isVisible ? 1 : 0) }

    /// Ticks of the ``UseClock`` since its last use.
    package func age(at now: UInt32) -> UInt32 { now &- stamp }

    /// Nanoseconds that its next reader waits if it leaves. A copy is preferred to the loader once there is one; before,
    /// ``Method/forDirty(isReloadable:loadTime:restoreTime:byteCount:canSpill:compression:writeTime:findsOut:isUnconfirmed:draw:)`` has chosen the cheaper one.
    package var returnCost: Float { method == .drop && reloadCost.isFinite ? reloadCost : restoreCost }
}

extension Candidate.Method {
    /// Whether a dirty value is better loaded again than written and read back.
    ///
    /// A value that no loader makes is always written. One whose loader has never been timed is written too.
    ///
    /// Whether a copy is worth its writing depends on how often the value will come back, and that is unknown. So it is the
    /// more likely to be written the larger a part of the writing one return saves: a value that comes back again and again
    /// has its copy by the time its loads have cost about as much. (Renting skis, at random: Karlin, Manasse, McGeoch and
    /// Owicki, SODA 1990.) If a restore saves less than an eighth of a load, nothing is written: what both take varies by as
    /// much from one moment to the next.
    ///
    /// But what a restore takes is known only of values that were written: a cache would go by an estimate for ever. So a few
    /// are written to find out, for a fiftieth of the time that loads take. And where a load is so short that all depends on how
    /// fast the disk answers, no more than a few are on the word of an estimate.
    ///
    /// - Parameters:
    ///   - writeTime: What writing takes; `nil` for nothing.
    ///   - findsOut: Whether too few restores were measured: ``CacheStatistics/isFindingOut``.
    ///   - isUnconfirmed: Whether many were written on the word of an estimate: ``CacheStatistics/isUnconfirmed``.
    ///   - draw: A random number, 0 ..< 1, the same for a value until it comes back.
    package static func forDirty(
        isReloadable: Bool,
        loadTime: Duration?,
        restoreTime: Duration?,
        byteCount: Int,
        canSpill: Bool,
        compression: CompressedTierUse = .none,
        writeTime: Duration? = nil,
        findsOut: Bool = false,
        isUnconfirmed: Bool = false,
        draw: Double = 0
    ) -> Candidate.Method {
        let copy: Candidate.Method = compression == .first || compression == .fallback && !canSpill ? .compress : .spill
        guard isReloadable else { return copy }
        guard canSpill || compression == .first else { return .drop }
        guard let loadTime else { return copy }
        let restore = restoreTime ?? .nanoseconds(Int64(CostEstimate.restore(byteCount: byteCount)))
        let saved = loadTime - restore
        guard let writeTime else { return saved > .zero ? copy : .drop }
        let isKnown = !isUnconfirmed || loadTime >= Self.longLoad
        let isWorthIt = isKnown && saved > .zero && saved * 8 >= loadTime
        let gain = max(isWorthIt ? saved : .zero, findsOut ? loadTime / 50 : .zero)
        return gain / writeTime > draw ? copy : .drop
    }

    /// Beside a load that takes longer the latency of a disk makes little difference.
    private static let longLoad = Duration.nanoseconds(10 * Int64(CostEstimate.latency))
}
