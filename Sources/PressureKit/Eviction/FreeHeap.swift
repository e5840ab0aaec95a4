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
        /// How long giving it back took last…
        var giving = Duration.zero
        /// …and whether the system got at least half of it.
        var yieldsMuch = true
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
    private let inMemory: @Sendable () -> Int?
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
    ///   - inMemory: the bytes of the process that are in memory; `nil` for unknown.
    init(
        clock: any MonotonicClock,
        read: @escaping @Sendable () -> Int = { Int(clamping: pk_heap_free()) },
        trim: @escaping @Sendable () -> Void = { _ = pk_malloc_trim() },
        inMemory: @escaping @Sendable () -> Int? = { nil }
    ) {
        self.clock = clock
        self.read = read
        self.trim = trim
        self.inMemory = inMemory
        state = Lock(State(absent: read()))
    }

    /// The heap of a process, this one; with `nil` it is taken to be full, so that a run can be repeated.
    convenience init(clock: any MonotonicClock, process: ProcessFootprint?) {
        if let process {
            self.init(clock: clock, inMemory: { process.residentBytes() })
        } else {
            self.init(clock: clock, read: { 0 })
        }
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
    /// - Parameter resident: The bytes of values in memory.
    /// - Returns: whether it was read.
    @discardableResult func look(resident: () -> Int = { 0 }) -> Bool {
        let now = clock.now()
        if let next = state.withLock({ $0.next }), now < next { return false }
        // Before what is free: what comes between the two has taken of it, and is taken off once more.
        let before = resident()
        let free = read()
        let rest = inMemory().map { $0 - resident() }
        let end = clock.now()
        state.withLock { state in
            state.next = end + min(max(Self.freshness.least, (end - now) * 50), Self.freshness.most)
            state.absent = min(state.absent, free)
            state.resident = before
            state.present = free - state.absent
            if let rest { state.leave(for: rest - state.present, at: end) }
        }
        return true
    }

    // MARK: Giving it back

    /// Gives it back to the system. Takes milliseconds.
    ///
    /// Whole pages only: of values of 4 KiB that leave here and there the system gets a seventh at first, of those of 32 KiB nearly
    /// all (measured). What of it stays in memory is taken to be gone as well: others take it, and what is left is of no use to them.
    ///
    /// - Parameter room: What memory there was; `nil` while nobody watches.
    func giveBack(beside room: AdmissionRoom? = nil) {
        let before = inMemory()
        let start = clock.now()
        trim()
        let trimmed = clock.now()
        let after = inMemory()
        let free = read()
        let end = clock.now()
        state.withLock { state in
            if let before, let after, free > state.absent {
                // What others have taken meanwhile hides as much of it.
                let returned = before - after + (room?.taken(in: trimmed - start) ?? 0)
                state.yieldsMuch = 2 * returned >= free - state.absent
            }
            state.absent = free
            state.present = 0
            state.giving = end - start
            state.unreturned = 0
            state.next = end + Self.freshness.least
        }
    }

    /// Whether the system got at least half of it last time, as far as anybody knows.
    var yieldsMuch: Bool { state.withLock { $0.yieldsMuch } }

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
