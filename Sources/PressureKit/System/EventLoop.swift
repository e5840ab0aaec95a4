import CLinuxShims
import Glibc
import Synchronization

/// What the monitor's thread sleeps on: a time limit, and a bell that any thread may ring.
///
/// It is an epoll set with an eventfd in it, because the kernel's own pressure signals are descriptors too. One thread
/// waits; `wake()` and `finish()` may be called from any thread, also from the waiting one.
package final class EventLoop: Sendable {
    private let epoll: CInt
    private let bell: CInt
    private let finished = Atomic<Bool>(false)

    /// Creates the two descriptors; they are closed with the loop and not inherited by child processes.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when the process or the system has no descriptor left.
    package init() throws(PressureError) {
        let epoll = pk_epoll_create()
        guard epoll >= 0 else { throw .eventLoopUnavailable(call: "epoll_create1", errno: errno) }
        let bell = pk_eventfd()
        guard bell >= 0 else {
            let reason = errno
            close(epoll)
            throw .eventLoopUnavailable(call: "eventfd", errno: reason)
        }
        guard pk_epoll_add(epoll, bell, false, 0) == 0 else {
            let reason = errno
            close(bell)
            close(epoll)
            throw .eventLoopUnavailable(call: "epoll_ctl", errno: reason)
        }
        self.epoll = epoll
        self.bell = bell
    }

    deinit {
        close(bell)
        close(epoll)
    }

    /// Ends the present wait, or the next one when nobody waits now. Rings before one wait count once. Does not block.
    package func wake() {
        // It fails only when the counter is full, and then the bell is ringing already.
        _ = pk_eventfd_signal(bell)
    }

    /// Makes the present wait and all later ones return `false`. Does not block.
    package func finish() {
        finished.store(true, ordering: .releasing)
        wake()
    }

    /// Blocks until `wake()`, a signal handler, or the end of `limit`. Allocates nothing.
    ///
    /// - Parameter limit: The longest wait, rounded up to whole milliseconds; zero or less only looks.
    /// - Returns: `false` once `finish()` was called, whatever else happened.
    package func wait(upTo limit: Duration) -> Bool {
        guard !finished.load(ordering: .acquiring) else { return false }
        let milliseconds = Self.milliseconds(limit)
        var token: UInt64 = 0
        var failed = false
        let events = unsafe pk_epoll_wait(epoll, &token, &failed, 1, milliseconds)  // room for the one event asked for
        if events > 0 {
            _ = pk_eventfd_drain(bell)
        } else if events < 0, errno != EINTR {
            // Somebody closed our descriptor. Deaf is better than spinning.
            _ = poll(nil, 0, milliseconds)
        }
        return !finished.load(ordering: .acquiring)
    }

    /// Rounded up, so that a wait never ends before its time and then spins for the rest of it.
    private static func milliseconds(_ limit: Duration) -> CInt {
        let rounded = limit.nanoseconds / 1_000_000 + (limit.nanoseconds % 1_000_000 > 0 ? 1 : 0)
        return CInt(clamping: max(0, rounded))
    }
}
