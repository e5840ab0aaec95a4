import Synchronization

/// How many bytes of values the caches of a manager have brought into memory and given back since it began: two counters
/// that only grow.
///
/// Their readings are noted with each sample, so what has changed since is a difference: exact however often and however
/// long ago values came and went, with nothing to forget. Noting takes no lock, and waking those who wait takes none either.
package final class MemoryBooks: Sendable {
    /// Both counters at one moment, in bytes.
    package struct Reading: Hashable, Sendable, BitwiseCopyable {
        /// Brought into memory.
        package var brought = 0
        /// Given back.
        package var returned = 0

        /// Creates a reading.
        package init(brought: Int = 0, returned: Int = 0) {
            self.brought = brought
            self.returned = returned
        }

        /// What is in memory.
        package var resident: Int { brought - returned }

        /// What memory has become fuller by since an earlier reading; negative when more was given back.
        package func growth(since earlier: Reading) -> Int {
            (brought - earlier.brought) - (returned - earlier.returned)
        }
    }

    private let brought = Atomic<Int>(0)
    private let returned = Atomic<Int>(0)
    private let arrivals = Atomic<Int>(0)
    private let awaitedNanoseconds = Atomic<Int>(0)
    private let sleepers = Atomic<Int>(0)
    /// What has been given back since those who wait looked last.
    private let unseen = Atomic<Int>(0)
    /// Of small values, those who wait are not woken for each: that would keep the thread that frees them from its work.
    private static let worthALook = 64 << 10
    private let changes = EventCount()

    /// Creates books with nothing in them.
    package init() {}

    /// Both counters now.
    package var reading: Reading {
        Reading(
            brought: brought.load(ordering: .sequentiallyConsistent),
            returned: returned.load(ordering: .sequentiallyConsistent)
        )
    }

    /// What has come into memory at a time, on average; 0 before anything has.
    package var averageArrival: Int {
        brought.load(ordering: .relaxed) / max(1, arrivals.load(ordering: .relaxed))
    }

    /// So many bytes have come into memory, or with a negative number left it. Allocates nothing, waits
    /// for nobody, and may be called with any lock held.
    package func note(_ bytes: Int) {
        if bytes >= 0 {
            brought.wrappingAdd(bytes, ordering: .relaxed)
            arrivals.wrappingAdd(1, ordering: .relaxed)
        } else {
            returned.wrappingAdd(-bytes, ordering: .sequentiallyConsistent)
            guard sleepers.load(ordering: .sequentiallyConsistent) > 0,
                unseen.wrappingAdd(-bytes, ordering: .relaxed).newValue >= Self.worthALook
            else { return }
            wake()
        }
    }

    /// How long readers have waited, in all, for values that had been evicted: what more memory would have saved them.
    package var awaited: Duration { .nanoseconds(Int64(awaitedNanoseconds.load(ordering: .relaxed))) }

    /// A value that had been evicted is back, which took so many nanoseconds. Allocates nothing.
    package func note(awaited nanoseconds: Int) { awaitedNanoseconds.wrappingAdd(nanoseconds, ordering: .relaxed) }

    /// Has those who wait look again. Next to free when nobody does.
    package func wake() {
        // The sleeper counts itself before it looks, and whoever wakes it has changed things before: one of the two sees
        // the other, since both are sequentially consistent.
        guard sleepers.load(ordering: .sequentiallyConsistent) > 0 else { return }
        unseen.store(0, ordering: .relaxed)
        changes.notify()
    }

    /// Sleeps until `condition` has a value, looking whenever 64 KiB were given back or ``wake()`` was called; `nil` after
    /// `limit` of real time. Blocks.
    package func wait<Result>(atMost limit: Duration, until condition: () -> Result?) -> Result? {
        sleepers.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { sleepers.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        return changes.wait(atMost: limit, until: condition)
    }
}
