import Synchronization

/// How many bytes of values the caches of a manager have brought into memory and given back since it began: counters that
/// only grow.
///
/// Their readings are noted with each sample, so what has changed since is a difference: exact however often and however
/// long ago values came and went, with nothing to forget. Noting takes no lock, and waking those who wait takes none either.
package final class MemoryBooks: Sendable {
    /// The counters at one moment, in bytes.
    package struct Reading: Hashable, Sendable, BitwiseCopyable {
        /// Brought into memory.
        package var brought = 0
        /// Given back.
        package var returned = 0
        /// What of that reclaims have taken: the rest is what the app itself took out of its caches.
        package var evicted = 0

        /// Creates a reading.
        package init(brought: Int = 0, returned: Int = 0, evicted: Int = 0) {
            self.brought = brought
            self.returned = returned
            self.evicted = evicted
        }

        /// What is in memory.
        package var resident: Int { brought - returned }

        /// What would be if no reclaim had taken any: it falls by what the app itself takes out.
        package var entrusted: Int { resident + evicted }

        /// What memory has become fuller by since an earlier reading; negative when more was given back.
        package func growth(since earlier: Reading) -> Int {
            (brought - earlier.brought) - (returned - earlier.returned)
        }
    }

    private let brought = Atomic<Int>(0)
    private let returned = Atomic<Int>(0)
    private let evicted = Atomic<Int>(0)
    private let arrivals = Atomic<Int>(0)
    private let awaitedNanoseconds = Atomic<Int>(0)
    private let sleepers = Atomic<Int>(0)
    /// What has been given back, or need not be kept free any more.
    private let eased = Atomic<Int>(0)
    /// At how much of that the first of those who wait looks again.
    private let nextLook = Atomic<Int>(.max)
    private let changes = EventCount()

    /// Creates books with nothing in them.
    package init() {}

    /// The counters now.
    package var reading: Reading {
        Reading(
            brought: brought.load(ordering: .sequentiallyConsistent),
            returned: returned.load(ordering: .sequentiallyConsistent),
            evicted: evicted.load(ordering: .relaxed)
        )
    }

    /// A reclaim has given back so many bytes, which are noted as such beside. Allocates nothing.
    package func note(evicted bytes: Int) { evicted.wrappingAdd(bytes, ordering: .relaxed) }

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
            ease(-bytes)
        }
    }

    /// So many bytes need not be kept free any more: what they were for is there, or does not come. Has those who wait look for
    /// whom that may be enough. Allocates nothing, waits for nobody.
    package func ease(_ bytes: Int) {
        let eased = eased.wrappingAdd(bytes, ordering: .sequentiallyConsistent).newValue
        if eased >= nextLook.load(ordering: .sequentiallyConsistent) { wake() }
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
        // Whoever says after this when to look has not slept yet, and looks again.
        nextLook.store(.max, ordering: .sequentiallyConsistent)
        changes.notify()
    }

    /// What somebody who waits finds when he looks.
    package enum Look<Result> {
        /// He need not wait any more.
        case found(Result)
        /// He has to, for so many bytes more to be given back, or for a ``wake()``.
        case lacks(Int)
    }

    /// Sleeps until `look` finds something, looking when what it lacked has been given back and at each ``wake()``; `nil` after
    /// `limit` of real time. Blocks.
    ///
    /// Waking a thread costs more than freeing a small value does, and the thread that frees them is the one that wakes. So of
    /// many who wait none is woken for nothing: 64 who were, for each 64 KiB, kept it from two thirds of its work, and other
    /// memory of the process grew faster than it freed (measured).
    package func wait<Result>(atMost limit: Duration, until look: () -> Look<Result>) -> Result? {
        let before = sleepers.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        defer { sleepers.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        let least = Self.worthALook(of: before)
        return changes.wait(atMost: limit) {
            while true {
                let seen = eased.load(ordering: .sequentiallyConsistent)
                switch look() {
                case .found(let result): return result
                case .lacks(let bytes):
                    let next = seen + min(max(bytes, least), Self.mostLacking)
                    nextLook.min(next, ordering: .sequentiallyConsistent)
                    // What came between the two has woken nobody.
                    if eased.load(ordering: .sequentiallyConsistent) < next { return nil }
                }
            }
        }
    }

    /// The same for who lacks nothing that can be given back: looks at each ``wake()``.
    package func wait<Result>(atMost limit: Duration, until condition: () -> Result?) -> Result? {
        wait(atMost: limit) { condition().map(Look.found) ?? .lacks(.max) }
    }

    /// For how much so many look who wait: some of them can go on then.
    package static func worthALook(of sleepers: Int) -> Int { min(sleepers, 16) << 12 }

    /// So that no sum overflows.
    private static let mostLacking = 1 << 50
}

extension MemoryBooks.Look: Equatable where Result: Equatable {}
extension MemoryBooks.Look: Sendable where Result: Sendable {}
