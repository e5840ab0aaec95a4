import CLinuxShims
import Glibc
import Synchronization

/// Is told by an ``EventLoop`` that a descriptor has news.
package protocol EventReceiver: AnyObject, Sendable {
    /// A watched descriptor has news, or has failed. Called on the waiting thread, with no lock of the loop's held. Must
    /// make the descriptor quiet again (read it, or have it watched no longer), or the loop spins.
    func receive(_ event: EventLoop.Event)
}

/// What the monitor's thread sleeps on: a time limit, the kernel's pressure descriptors, and an eventfd that any thread may
/// write to.
///
/// It is one epoll set with an eventfd in it. One thread waits; everything else may be called from any thread, also from
/// the waiting one.
package final class EventLoop: Sendable {
    /// What to watch a descriptor for.
    package enum Interest: Sendable {
        /// There is something to read: FIFOs, sockets, eventfds.
        case readable
        /// The kernel has news (EPOLLPRI): pressure triggers and the event files of cgroups.
        case urgent
    }

    /// News of one descriptor.
    package struct Event: Hashable, Sendable {
        /// What the receiver called it.
        package let tag: Int
        /// EPOLLERR or EPOLLHUP came along. The end of a trigger or a FIFO; the event files of cgroups always say so.
        package let failed: Bool

        /// Creates an event.
        package init(tag: Int, failed: Bool) {
            self.tag = tag
            self.failed = failed
        }
    }

    private struct Watch {
        var descriptor: CInt
        var tag: Int
        var receiver: any EventReceiver
        /// Tells this watch from an earlier one in the same place, of which an event may still be under way.
        var generation: UInt32
    }

    private struct Watches {
        var places: [Watch?] = []
        var generation: UInt32 = 0
    }

    private let epoll: CInt
    private let wakeup: CInt
    private let process = ProcessMark()
    private let finished = Atomic<Bool>(false)
    private let watches = Lock(Watches())

    /// Creates the two descriptors; they are closed with the loop and not inherited by programs that are executed.
    ///
    /// - Throws: ``PressureError`` with code `signalUnavailable` when the process or the system has no descriptor left.
    package init() throws(PressureError) {
        let epoll = pk_epoll_create()
        guard epoll >= 0 else { throw .eventLoopUnavailable(call: "epoll_create1", errno: errno) }
        let wakeup = pk_eventfd()
        guard wakeup >= 0 else {
            let reason = errno
            close(epoll)
            throw .eventLoopUnavailable(call: "eventfd", errno: reason)
        }
        guard pk_epoll_add(epoll, wakeup, false, 0) == 0 else {
            let reason = errno
            close(wakeup)
            close(epoll)
            throw .eventLoopUnavailable(call: "epoll_ctl", errno: reason)
        }
        self.epoll = epoll
        self.wakeup = wakeup
    }

    deinit {
        close(wakeup)
        close(epoll)
    }

    // MARK: Watching

    /// Whether the loop was made before a fork(2) whose child this is. The epoll set is then still the parent's: it is
    /// left as it is, and the child makes a loop of its own.
    package var isInherited: Bool { !process.isThisProcess }

    /// Watches a descriptor until ``unwatch(_:)``, which must come before it is closed. The receiver is kept till then.
    ///
    /// - Parameters:
    ///   - tag: What the receiver is told.
    /// - Returns: `false` when the kernel refuses, `errno` says why: EPERM for a regular file, which cannot be waited on.
    package func watch(
        _ descriptor: CInt,
        for interest: Interest,
        tag: Int,
        receiver: any EventReceiver
    ) -> Bool {
        guard !isInherited else {
            errno = ECHILD
            return false
        }
        return watches.withLock { watches in
            watches.generation &+= 1
            let watch = Watch(
                descriptor: descriptor,
                tag: tag,
                receiver: receiver,
                generation: watches.generation
            )
            let place = watches.places.firstIndex { $0 == nil } ?? watches.places.count
            // Place 0 of the tokens is the wake-up's.
            let token = UInt64(watches.generation) << 32 | UInt64(place + 1)
            guard pk_epoll_add(epoll, descriptor, interest == .urgent, token) == 0 else { return false }
            if place == watches.places.count {
                watches.places.append(watch)
            } else {
                watches.places[place] = watch
            }
            return true
        }
    }

    /// Watches a descriptor no longer; does nothing when it is not watched. An event that the waiting thread has already
    /// taken may still be delivered.
    package func unwatch(_ descriptor: CInt) {
        watches.withLock { watches in
            for place in watches.places.indices where watches.places[place]?.descriptor == descriptor {
                if !isInherited { _ = pk_epoll_remove(epoll, descriptor) }
                watches.places[place] = nil
            }
        }
    }

    /// How many descriptors are watched, the wake-up aside.
    package var watchCount: Int { watches.withLock { $0.places.count { $0 != nil } } }

    // MARK: Waiting

    /// Ends the present wait, or the next one when nobody waits now. Notifications before one wait count once. Does not block.
    package func wake() {
        // It fails only when the counter is full, and then the wake-up is due already.
        _ = pk_eventfd_signal(wakeup)
    }

    /// Makes the present wait and all later ones return `false`. Does not block.
    package func finish() {
        finished.store(true, ordering: .releasing)
        wake()
    }

    /// Blocks until `wake()`, news of a watched descriptor, a signal handler, or the end of `limit`; then tells the
    /// receivers. Allocates nothing.
    ///
    /// - Parameter limit: The longest wait, rounded up to whole milliseconds; zero or less only looks.
    /// - Returns: `false` once `finish()` was called, whatever else happened.
    package func wait(upTo limit: Duration) -> Bool {
        guard !finished.load(ordering: .acquiring) else { return false }
        let milliseconds = Self.milliseconds(limit)
        var tokens = InlineArray<16, UInt64>(repeating: 0)
        var failed = InlineArray<16, Bool>(repeating: false)
        let events = collect(&tokens, &failed, milliseconds)
        if events < 0, errno != EINTR {
            // Somebody closed our descriptor. Deaf is better than spinning.
            _ = poll(nil, 0, milliseconds)
        }
        var index = 0
        while index < events {
            deliver(tokens[index], failed: failed[index])
            index += 1
        }
        return !finished.load(ordering: .acquiring)
    }

    private func collect(
        _ tokens: inout InlineArray<16, UInt64>,
        _ failed: inout InlineArray<16, Bool>,
        _ milliseconds: CInt
    ) -> Int {
        var tokens = tokens.mutableSpan
        var failed = failed.mutableSpan
        return unsafe tokens.withUnsafeMutableBufferPointer { tokens in
            unsafe failed.withUnsafeMutableBufferPointer { failed in
                // Room for as many events as are asked for; both buffers have 16 places.
                Int(unsafe pk_epoll_wait(epoll, tokens.baseAddress, failed.baseAddress, 16, milliseconds))
            }
        }
    }

    private func deliver(_ token: UInt64, failed: Bool) {
        guard token != 0 else {
            _ = pk_eventfd_drain(wakeup)
            return
        }
        let watch = watches.withLock { watches -> Watch? in
            let place = Int(token & 0xFFFF_FFFF) - 1
            guard place < watches.places.count, let watch = watches.places[place] else { return nil }
            return watch.generation == UInt32(token >> 32) ? watch : nil
        }
        if let watch { watch.receiver.receive(Event(tag: watch.tag, failed: failed)) }
    }

    /// Rounded up, so that a wait never ends before its time and then spins for the rest of it.
    private static func milliseconds(_ limit: Duration) -> CInt {
        let rounded = limit.nanoseconds / 1_000_000 + (limit.nanoseconds % 1_000_000 > 0 ? 1 : 0)
        return CInt(clamping: max(0, rounded))
    }
}
