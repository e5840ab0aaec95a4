package import PressureSystem

/// How many bytes of a limit can still be had.
package struct Headroom: Hashable, Sendable {
    /// Bytes a program may still take without swapping; never negative, never more than `limit`.
    package let available: ByteCount
    /// The host's memory, or the binding limit.
    package let limit: ByteCount
    /// Page cache that is not available only because it is not written yet.
    package let unwritten: ByteCount
    /// Page cache that is not available because it was used lately.
    package let kept: ByteCount
    /// The part of ``available`` that page cache takes now.
    package let pageCache: ByteCount
    /// What the process's own caches can give back at once, of what is in use, with what is free in its heap. Filling a cache
    /// takes as much off ``available`` as it adds here, so that a full cache is no shortage, and neither is one that was emptied.
    package var reclaimable = ByteCount.zero
    /// What they hold in memory, whether or not it can be given back.
    package var held = ByteCount.zero
    /// What the process's own hold, and all that reclaims ever took from them: it falls by what the app itself takes out.
    package var entrusted = ByteCount.zero

    /// What can be had, the caches' part included: what levels go by, as `MemAvailable` counts page cache.
    package var attainable: ByteCount { min(limit, available + reclaimable) }

    /// What can be had once the kernel has written: what says whether waiting for memory is a shortage. What is unwritten
    /// swings with every large file, at the speed of a disk, and ends at a fifth of a limit.
    package var eventual: ByteCount { min(limit, attainable + unwritten) }

    /// What is left by all but the process's caches, which is what a trend is seen in: it falls by what others take, and by
    /// that alone. ``reclaimable`` would not do: it is an estimate, and one that is corrected is no memory taken. Neither is page
    /// cache that is used or written.
    package var leftByOthers: ByteCount { min(limit, available + unwritten + kept + held) }

    /// Whether so much waits to be written that the kernel has whoever takes memory wait for the disk: a fifth of the limit, more
    /// of which does not count as ``unwritten``.
    var waitsForDisk: Bool { unwritten.bytes >= limit.bytes / 5 }

    /// The part of the limit that can be had once the kernel has written, 0 … 1.
    package var share: Double { Double(eventual.bytes) / Double(limit.bytes) }

    /// The largest limit that is one: kernels write "unlimited" as a huge number. An eighth of the largest
    /// `Int`, so that sums of a few fit.
    static let largestLimit = ByteCount(bytes: 1 << 60)

    /// Creates a headroom; `available` is brought into 0 … `limit`, `unwritten` into what is left of
    /// that, `kept` into what is left of both, `pageCache` into what is available.
    ///
    /// - Returns: `nil` when the limit is not positive, or above 1 EiB: there is nothing to be a part of.
    package init?(
        available: ByteCount,
        limit: ByteCount,
        unwritten: ByteCount = .zero,
        kept: ByteCount = .zero,
        pageCache: ByteCount = .zero
    ) {
        guard limit > .zero, limit <= Self.largestLimit else { return nil }
        self.available = min(max(available, .zero), limit)
        self.limit = limit
        self.unwritten = min(max(unwritten, .zero), limit - self.available)
        self.kept = min(max(kept, .zero), limit - self.available - self.unwritten)
        self.pageCache = min(max(pageCache, .zero), self.available)
    }
}

/// One sample of one source.
///
/// Copying it allocates nothing: the source's name is shared.
package struct SignalReading: Hashable, Sendable {
    /// What was measured.
    package enum Measure: Hashable, Sendable {
        /// Bytes left of a limit; the thresholds decide what that means.
        case headroom(Headroom)
        /// A level that the source has decided on itself, and the bytes it wants, when it can say.
        case demand(PressureLevel, freeing: ByteCount?)
        /// Time that tasks have waited for memory; its growth decides.
        case stall(StallReading)
        /// How often a cgroup has met its limits; the growth decides.
        case events(EventCounters)
    }

    /// What kind of source spoke.
    package var origin: PressureCause.Origin
    /// Where it was read, such as `"/proc/meminfo"`.
    package var source: String
    /// What was measured.
    package var measure: Measure
    /// When. Bytes freed since then are not in the measure yet.
    package var takenAt: MonotonicInstant
    /// The kernel wakes the monitor at the next threshold by itself: there is no need to look again soon.
    package var isWatched: Bool
    /// What part of a shortage here is this process's, as those who share it have agreed, 0 … 1; `nil` where nobody has.
    package var ownPart: Double?

    /// Creates a reading.
    package init(
        origin: PressureCause.Origin,
        source: String,
        measure: Measure,
        takenAt: MonotonicInstant,
        isWatched: Bool = false
    ) {
        self.origin = origin
        self.source = source
        self.measure = measure
        self.takenAt = takenAt
        self.isWatched = isWatched
    }

    /// Notes what the process's caches hold and can give back, where bytes of a limit are measured.
    ///
    /// - Parameter entrusted: See ``Headroom/entrusted``; `nil` for what was noted before.
    mutating func note(reclaimable: ByteCount, held: ByteCount, entrusted: ByteCount? = nil) {
        guard case .headroom(var headroom) = measure else { return }
        headroom.reclaimable = reclaimable
        headroom.held = held
        headroom.entrusted = entrusted ?? headroom.entrusted
        measure = .headroom(headroom)
    }

    /// The bytes left of a limit, when that is what was measured.
    package var headroom: Headroom? {
        guard case .headroom(let headroom) = measure else { return nil }
        return headroom
    }
}
