import CLinuxShims
import Glibc
import PressureSignals
import PressureSystem

/// The part of the process's heap that is free and still in memory: what the values of a cache leave when they go, and the
/// next ones take.
///
/// The C library says how much is free, and not how much of that is in memory: what was given back is free too. So all is
/// taken to be out of memory that was free after the last time that it was given back, or at any sample since.
///
/// Not all of it is for values: what loaders need while they run is free between two loads. So what the rest of the process had
/// in use a moment ago, and does not now, is left for it, up to ``mostLeft``; also once it was given back to the system,
/// and then of what is available there.
final class FreeHeap: Sendable {
    private struct State {
        /// Free, and perhaps not in memory.
        var absent: Int
        /// Free, and in memory.
        var present = 0
        /// What is left for the rest of the process.
        var left = 0
        /// The bytes of values in memory then.
        var resident = 0
        /// The most that the rest of the process had in use lately.
        var peak = 0.0
        var lookedAt: MonotonicInstant?
        /// When it is read again.
        var next: MonotonicInstant?
        /// How long giving it back took last.
        var giving = Duration.zero
        /// What values have left in it since.
        var unreturned = 0

        /// Takes down what the rest of the process has in use now, and so what is to be left for it.
        mutating func leave(for used: Int, at now: MonotonicInstant) {
            let seconds = lookedAt.map { Double((now - $0).nanoseconds) / 1e9 } ?? .infinity
            lookedAt = now
            peak = max(Double(used), peak - (peak - Double(used)) * (1 - exp(-seconds / FreeHeap.memory)))
            left = min(FreeHeap.mostLeft, Int(peak) - used)
        }
    }

    private let clock: any MonotonicClock
    private let read: @Sendable () -> Int
    private let trim: @Sendable () -> Void
    private let state: Lock<State>

    /// Scratch of 64 loaders, 64 KiB each.
    static let mostLeft = 4 << 20
    /// Over how many seconds it is forgotten.
    private static let memory = 2.0

    /// Going through the blocks takes time with their number, and whoever allocates meanwhile waits. So an answer is kept
    /// for this long, or for fifty times as long as it took, up to the second.
    private static let freshness = (least: Duration.milliseconds(20), most: Duration.milliseconds(250))

    /// - Parameters:
    ///   - read: the free bytes of the heap, in memory or not.
    ///   - trim: gives back to the system what it can of them.
    init(
        clock: any MonotonicClock,
        read: @escaping @Sendable () -> Int = { Int(clamping: pk_heap_free()) },
        trim: @escaping @Sendable () -> Void = { _ = pk_malloc_trim() }
    ) {
        self.clock = clock
        self.read = read
        self.trim = trim
        state = Lock(State(absent: read()))
    }

    /// The heap of this process; if it is not `isMeasured`, it is taken to be full, so that a run can be repeated.
    convenience init(clock: any MonotonicClock, isMeasured: Bool) {
        if isMeasured { self.init(clock: clock) } else { self.init(clock: clock, read: { 0 }) }
    }

    /// The bytes that were free and in memory when that was read last, less what values have taken since: the thread that
    /// reads it may be busy for as long as it takes to fill it. Negative if less than that is left for the rest of the
    /// process. Does not wait.
    ///
    /// - Parameter resident: The bytes of values that are in memory now.
    func bytes(beside resident: Int) -> Int {
        state.withLock { max(0, $0.present - max(0, resident - $0.resident)) - $0.left }
    }

    /// Reads how much it is, if the last answer is old. Takes some ten microseconds, with many blocks some hundred, and
    /// waits for whoever allocates: on the reclaim thread, not on the monitor's.
    ///
    /// - Parameters:
    ///   - resident: The bytes of values in memory.
    ///   - rest: What of the process is in memory and no value, the free part of the heap included; `nil` for unknown.
    /// - Returns: whether it was read.
    @discardableResult func look(resident: () -> Int = { 0 }, rest: () -> Int? = { nil }) -> Bool {
        let now = clock.now()
        if let next = state.withLock({ $0.next }), now < next { return false }
        // Before what is free: what comes between the two has taken of it, and is taken off once more.
        let resident = resident()
        let free = read()
        let rest = rest()
        let end = clock.now()
        state.withLock { state in
            state.next = end + min(max(Self.freshness.least, (end - now) * 50), Self.freshness.most)
            state.absent = min(state.absent, free)
            state.resident = resident
            state.present = free - state.absent
            if let rest { state.leave(for: rest - state.present, at: end) }
        }
        return true
    }

    // MARK: Giving it back

    /// Gives it back to the system. Takes milliseconds.
    func giveBack() {
        let start = clock.now()
        trim()
        let free = read()
        let end = clock.now()
        state.withLock { state in
            state.absent = free
            state.present = 0
            state.giving = end - start
            state.unreturned = 0
            state.next = end + Self.freshness.least
        }
    }

    /// A batch has ended, and its values have left so many bytes that were not given back.
    func note(unreturned bytes: Int) { state.withLock { $0.unreturned += bytes } }

    /// Whether batches have left so much that it is worth giving back.
    func isWorthGivingBack(in room: AdmissionRoom) -> Bool {
        state.withLock { $0.unreturned } >= worthGivingBack(in: room)
    }

    /// From how many bytes on it is.
    func worthGivingBack(in room: AdmissionRoom?) -> Int {
        room?.worthGivingBack(in: state.withLock { $0.giving }) ?? AdmissionRoom.leastGivenBack
    }
}
