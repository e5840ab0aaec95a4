import CLinuxShims

/// What threads sleep on until something may have changed, without a lock: an eventcount.
///
/// A condition variable keeps whoever wakes others waiting for its mutex, behind as many as were woken before and look now.
/// Where the waker is the thread that frees memory, and 128 others want two processors, that is some hundred milliseconds
/// (measured). Here it changes a word and makes one call, and who sleeps looks at what it pleases with nothing locked. (Reed and
/// Kanodia, "Synchronization with Eventcounts and Sequencers", 1979; folly's `EventCount`.)
@safe package final class EventCount: @unchecked Sendable {
    // Sendable and safe: one word, allocated with this and freed with it, which is only touched by atomic operations.
    private let word: UnsafeMutablePointer<UInt32>

    /// Nobody sleeps yet.
    package init() {
        unsafe word = .allocate(capacity: 1)
        unsafe word.initialize(to: 0)
    }

    deinit { unsafe word.deallocate() }

    /// Has all who sleep look again. One system call; never waits.
    package func notify() { unsafe pk_change_word(word) }

    /// Sleeps until `condition` has a value, looking after each ``notify()``; `nil` after `limit` of real time. Looks once
    /// without sleeping. What is notified of between a look and the sleep after it is not missed. Blocks.
    package func wait<Result>(atMost limit: Duration, until condition: () -> Result?) -> Result? {
        let end = MonotonicInstant(nanoseconds: pk_monotonic_nanoseconds()) + min(limit, .seconds(1 << 30))
        var isOver = limit <= .zero
        while true {
            let seen = unsafe pk_word(word)
            if let result = condition() { return result }
            if isOver { return nil }
            isOver = unsafe !pk_wait_for_word(word, seen, end.nanoseconds)
        }
    }
}
