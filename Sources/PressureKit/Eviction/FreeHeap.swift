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
///
/// An app that empties a cache leaves much of it at once. Nobody is short of that memory: it counts as reclaimable, and what
/// nobody takes for a second goes back to the system, as from allocators that purge by themselves (jemalloc: after ten).
final class FreeHeap: Sendable {
    private struct State {
        /// Free, and perhaps not in memory.
        var absent: Int
        /// Free, and in memory.
        var present = 0
        /// What is left for the rest of the process.
        var left = 0
        /// The bytes of values in memory then; `nil` while nobody knows.
        var resident: Int?
        /// The most that the app was seen to have in its caches since, with what reclaims took from there.
        var entrusted = 0
        /// Since when there has been more in it than is worth keeping, and how long that is kept.
        var idleSince: MonotonicInstant?
        var keeping = FreeHeap.keeping
        /// The most that the rest of the process had in use lately.
        var peak = 0.0
        var lookedAt: MonotonicInstant?
        /// When it is read again.
        var next: MonotonicInstant?
        /// How long giving it back took lately…
        var giving = Duration.zero
        /// …how long it takes to find what is to leave…
        var leaving = Duration.zero
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

        /// Takes down what is free beside so many bytes of values.
        mutating func note(free: Int, beside values: MemoryBooks.Reading) {
            absent = min(absent, free)
            (present, resident, entrusted) = (free - absent, values.resident, values.entrusted)
        }

        /// What is free once values take or leave the difference. Of what the app takes out all is taken to stay until it is read
        /// anew, though large blocks go to the system; what reclaims take they see to themselves.
        func reading(beside values: MemoryBooks.Reading) -> HeapReading {
            let taken = max(0, values.resident - (resident ?? values.resident))
            let usable = max(0, present - taken) - left
            let stays = max(0, entrusted - values.entrusted)
            return HeapReading(
                usable: usable,
                reclaimable: max(0, usable + stays),
                yieldsMuch: yieldsMuch,
                giving: giving,
                leaving: leaving
            )
        }

        /// Whether there is news: the app has taken values out, or others have taken of what was not in memory.
        mutating func isNews(_ values: MemoryBooks.Reading) -> Bool {
            let before = resident ?? values.resident
            resident = before
            entrusted = max(entrusted, values.entrusted)
            return entrusted - values.entrusted >= FreeHeap.worthALook
                || values.resident - before - present >= FreeHeap.worthALook && absent >= FreeHeap.worthALook
        }

        /// Whether there has been enough for long enough to give it back.
        func isIdle(at now: MonotonicInstant) -> Bool {
            idleSince.map { now - $0 >= max(keeping, giving * 50) } ?? false
        }
    }

    private let clock: any MonotonicClock
    private let read: @Sendable () -> Int
    private let trim: @Sendable () -> Void
    private let inMemory: @Sendable () -> Int?
    private let isMeasured: Bool
    private let state: Lock<State>

    /// Scratch of 64 loaders, 64 KiB each.
    static let mostLeft = 4 << 20
    /// After values have left or taken so much it is read anew.
    static let worthALook = 1 << 20
    /// How much has to be free, and for how long, to be given back although nobody is short.
    static let (idle, keeping) = (8 << 20, Duration.seconds(1))
    /// Over how many seconds it is forgotten.
    private static let memory = 2.0

    /// Going through the blocks takes time with their number, and whoever allocates meanwhile waits. So an answer is kept
    /// for this long, or for fifty times as long as it took, up to the second.
    private static let freshness = (least: Duration.milliseconds(20), most: Duration.milliseconds(250))

    /// - Parameters:
    ///   - isMeasured: whether anything is to be done about it without a need.
    ///   - read: the free bytes of the heap, in memory or not.
    ///   - trim: gives back to the system what it can of them.
    ///   - inMemory: the bytes of the process that are in memory; `nil` for unknown.
    init(
        clock: any MonotonicClock,
        isMeasured: Bool = true,
        read: @escaping @Sendable () -> Int = { Int(clamping: pk_heap_free()) },
        trim: @escaping @Sendable () -> Void = { _ = pk_malloc_trim() },
        inMemory: @escaping @Sendable () -> Int? = { nil }
    ) {
        self.clock = clock
        self.isMeasured = isMeasured
        self.read = read
        self.trim = trim
        self.inMemory = inMemory
        let free = read()
        state = Lock(State(absent: free))
    }

    /// The heap of a process, this one; with `nil` it is taken to be full, so that a run can be repeated.
    convenience init(clock: any MonotonicClock, process: ProcessFootprint?) {
        if let process {
            self.init(clock: clock, inMemory: { process.residentBytes() })
        } else {
            self.init(clock: clock, isMeasured: false, read: { 0 })
        }
    }

    /// What was free and in memory when that was read last, less what values have taken since: the thread that reads it may be
    /// busy for as long as it takes to fill it. Does not wait.
    ///
    /// - Parameter values: What is in the books now.
    func reading(beside values: MemoryBooks.Reading) -> HeapReading { state.withLock { $0.reading(beside: values) } }

    /// Whether the reclaim thread is to come: to read it anew, or to give it back. Asked with each sample; does not wait.
    ///
    /// - Parameters:
    ///   - values: What is in the books now.
    ///   - isShared: Whether others share the limit, who can do nothing with what is free in here: then nothing is kept for later.
    func wantsVisit(beside values: MemoryBooks.Reading, isShared: Bool = false) -> Bool {
        guard isMeasured else { return false }
        let now = clock.now()
        return state.withLock { state in
            state.keeping = isShared ? .zero : Self.keeping
            let isNews = state.isNews(values)
            let isEnough = state.reading(beside: values).reclaimable >= Self.idle
            state.idleSince = isEnough ? state.idleSince ?? now : nil
            let isDue = state.next.map { $0 <= now } ?? true
            return isNews && isDue || state.isIdle(at: now)
        }
    }

    /// Whether nobody has taken of it for so long that it is to be given back although nobody is short.
    var isIdle: Bool {
        let now = clock.now()
        return state.withLock { $0.isIdle(at: now) }
    }

    /// Reads how much it is, if the last answer is old. Takes some ten microseconds, with many blocks some hundred, and
    /// waits for whoever allocates: on the reclaim thread, not on the monitor's.
    ///
    /// - Parameter values: What is in the books.
    /// - Returns: whether it was read.
    @discardableResult func look(beside values: () -> MemoryBooks.Reading = { MemoryBooks.Reading() }) -> Bool {
        let now = clock.now()
        if let next = state.withLock({ $0.next }), now < next { return false }
        // Before what is free: what comes between the two has taken of it, and is taken off once more.
        let before = values()
        let free = read()
        let rest = inMemory().map { $0 - values().resident }
        let end = clock.now()
        state.withLock { state in
            state.next = end + min(max(Self.freshness.least, (end - now) * 50), Self.freshness.most)
            state.note(free: free, beside: before)
            if let rest { state.leave(for: rest - state.present, at: end) }
        }
        return true
    }

    /// What was free when it was read last, in memory or not; `nil` where it is not measured.
    var free: Int? { isMeasured ? state.withLock { $0.absent + $0.present } : nil }

    // MARK: Giving it back

    /// Gives it back to the system. Takes milliseconds.
    ///
    /// Whole pages only: of values of 4 KiB that leave here and there the system gets a seventh at first, of those of 32 KiB nearly
    /// all (measured). What of it stays in memory is taken to be gone as well: others take it, and what is left is of no use to them.
    ///
    /// To read what is free afterwards takes longer than all this: the C library counts every block, and whoever allocates waits
    /// (measured, of 100,000 values of 4 KiB: 5 ms and 15). While others take memory it is left for later, and taken to be what it was
    /// with all that has left since.
    ///
    /// - Parameters:
    ///   - room: What memory there was; `nil` while nobody watches.
    ///   - unreturned: What the batch that goes on has left in it.
    func giveBack(beside room: AdmissionRoom? = nil, unreturned: Int = 0) {
        let before = inMemory()
        let start = clock.now()
        trim()
        let end = clock.now()
        let after = inMemory()
        let free = room?.isTaken ?? false ? nil : read()
        state.withLock { state in
            if let free {
                if let before, let after, free > state.absent {
                    // What others have taken meanwhile hides as much of it.
                    let returned = before - after + (room?.taken(in: end - start) ?? 0)
                    state.yieldsMuch = 2 * returned >= free - state.absent
                }
            }
            state.absent = free ?? state.absent + state.present + state.unreturned + unreturned
            (state.present, state.resident, state.entrusted, state.idleSince) = (0, nil, 0, nil)
            // A thread may not have got a processor.
            state.giving += state.giving == .zero ? end - start : (end - start - state.giving) / 4
            state.unreturned = 0
            state.next = clock.now() + Self.freshness.least
        }
    }

    /// Whether the system got at least half of it last time, as far as anybody knows.
    var yieldsMuch: Bool { state.withLock { $0.yieldsMuch } }

    /// A batch has ended, and its values have left so many bytes that were not given back. It was chosen among so many values.
    func note(unreturned bytes: Int, among values: Int) {
        state.withLock { state in
            state.unreturned += bytes
            state.leaving = Self.look * values
        }
    }

    /// In a hurry, to look at one and to let a tenth of them leave (measured).
    private static let look = Duration.nanoseconds(250)

    /// Whether batches have left so much that it is worth giving back.
    func isWorthGivingBack(in room: AdmissionRoom) -> Bool {
        state.withLock { $0.unreturned } >= worthGivingBack(in: room)
    }

    /// From how many bytes on it is.
    func worthGivingBack(in room: AdmissionRoom?) -> Int {
        room?.worthGivingBack(in: state.withLock { $0.giving }) ?? AdmissionRoom.leastGivenBack
    }
}
