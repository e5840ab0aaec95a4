import CLinuxShims
import Glibc
import Synchronization

/// How soon one thread of the library's own gets a processor; changed by itself, or by another that has come to wait for it.
///
/// A thread that works in no hurry has the process's own priority, and among a hundred readers it gets a processor ten times
/// a second. Whoever finds that its work has become urgent meanwhile says so here: the thread itself would look too late.
package final class ThreadPriority: Sendable {
    private let apply: @Sendable (_ isUrgent: Bool) -> Void
    private let letOthersRun: @Sendable () -> Void
    private let state = Atomic<State>(.unknown)

    /// The shortest slice that there is, and one that is longer than the usual ones (0.7 to 2.8 ms), in nanoseconds. With the
    /// longest, 100 ms, others wait for what such a thread has locked: eight readers read a twentieth less (measured).
    private static let (brief, patient): (UInt64, UInt64) = (100_000, 10_000_000)

    private enum State: UInt8, AtomicRepresentable { case unknown, usual, urgent }

    /// Of the calling thread, which is left as it is.
    package convenience init() {
        let (thread, ordinary) = (CInt(bitPattern: pk_thread_identifier()), getpriority(CInt(PRIO_PROCESS.rawValue), 0))
        self.init { isUrgent in
            let (nice, slice) = isUrgent ? (max(-20, ordinary - 10), Self.brief) : (ordinary, Self.patient)
            _ = pk_run_in_slices(thread, nice, ordinary, slice)
        }
    }

    /// - Parameters:
    ///   - apply: tells the system.
    ///   - letOthersRun: leaves the processor to whoever waits for it.
    package init(
        apply: @escaping @Sendable (_ isUrgent: Bool) -> Void,
        letOthersRun: @escaping @Sendable () -> Void = { sched_yield() }
    ) {
        self.apply = apply
        self.letOthersRun = letOthersRun
    }

    /// If it is urgent, has the thread run soon after it wakes up, and briefly, with about nine times the share of a processor
    /// (ten lower in `nice(2)`), where RLIMIT_NICE or CAP_SYS_NICE allows that; otherwise has it make way for whoever wakes up, as
    /// a reader whose disk has answered. From any thread; no system call unless something changes.
    package func set(isUrgent: Bool) {
        var new = isUrgent ? State.urgent : .usual
        guard state.exchange(new, ordering: .sequentiallyConsistent) != new else { return }
        // Whoever has changed it meanwhile may have told the system before us: the last word is what it is now.
        while true {
            apply(new == .urgent)
            let now = state.load(ordering: .sequentiallyConsistent)
            if now == new { return }
            new = now
        }
    }

    /// Whether it is urgent now.
    package var isUrgent: Bool { state.load(ordering: .relaxed) == .urgent }

    /// Lets those run first who wait for this processor, unless it is urgent by now. Called by the thread itself between two
    /// steps of some hundred microseconds, with no lock held that others need.
    ///
    /// Who sleeps most of the time is owed time on a processor: a reader whose disk has answered would wait for all of a batch
    /// beside it, 1 to 2 ms (measured), and many of the slowest reads of a full cache are such ones.
    package func yield() { if !isUrgent { letOthersRun() } }
}
