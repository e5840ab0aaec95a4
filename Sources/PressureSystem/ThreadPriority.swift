import CLinuxShims
import Glibc
import Synchronization

/// How soon one thread of the library's own gets a processor; changed by itself, or by another that has come to wait for it.
///
/// A thread that works in no hurry has the process's own priority, and among a hundred readers it gets a processor ten times
/// a second. Whoever finds that its work has become urgent meanwhile says so here: the thread itself would look too late.
package final class ThreadPriority: Sendable {
    private let thread = pk_thread_number()
    private let ordinary = getpriority(CInt(PRIO_PROCESS.rawValue), 0)
    private let state = Atomic<State>(.unknown)

    private enum State: UInt8, AtomicRepresentable { case unknown, usual, urgent }

    /// Of the calling thread, which is left as it is.
    package init() {}

    /// Has the thread run soon after it wakes up, and briefly. If it is urgent, also with about nine times the share of a
    /// processor (ten lower in `nice(2)`), where RLIMIT_NICE or CAP_SYS_NICE allows that. Where it is not allowed, the thread goes
    /// on as it was. From any thread; no system call unless something changes.
    package func set(isUrgent: Bool) {
        let new = isUrgent ? State.urgent : .usual
        guard state.exchange(new, ordering: .relaxed) != new else { return }
        _ = pk_run_soon(thread, isUrgent ? max(-20, ordinary - 10) : ordinary, ordinary)
    }
}
