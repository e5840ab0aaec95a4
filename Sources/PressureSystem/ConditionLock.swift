import Glibc

/// State behind a lock that a thread can sleep on until the state is as it wants it.
///
/// What `Mutex` lacks: a condition variable. For the library's own threads and for readers that asked to block;
/// never used on the cooperative pool.
@safe
package final class ConditionLock<State>: @unchecked Sendable {
    // Sendable and safe: `state` is only touched between pthread_mutex_lock and pthread_mutex_unlock.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    /// Creates the lock around its first state.
    package init(_ state: sending State) {
        self.state = state
        // Both are allocated here, freed in deinit, and never move, as POSIX asks.
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // Setting the date must not make a wait longer.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` under the lock and wakes every sleeper to look again.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Runs `body` under the lock and wakes nobody, because it changes nothing that anybody waits for.
    package func withQuietLock<Result>(_ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Sleeps until `body`, run under the lock, returns a value. Blocks the calling thread.
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Sleeps until `body`, run under the lock, returns a value, or until `limit` of real time has passed: `nil` then.
    /// Looks once without sleeping. Blocks the calling thread.
    package func wait<Result>(atMost limit: Duration, _ body: (inout State) -> Result?) -> Result? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        if let result = body(&state) { return result }
        guard limit > .zero else { return nil }
        var end = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = Int64(end.tv_nsec) + limit.nanoseconds
        end.tv_sec += Int(nanoseconds / 1_000_000_000)
        end.tv_nsec = Int(nanoseconds % 1_000_000_000)
        while true {
            let status = unsafe pthread_cond_timedwait(condition, mutex, &end)
            if let result = body(&state) { return result }
            if status == ETIMEDOUT { return nil }
        }
    }
}
