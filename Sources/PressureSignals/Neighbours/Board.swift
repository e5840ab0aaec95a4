import Glibc
package import PressureSystem
import Synchronization

/// One limit's board, as one process uses it: says what it holds, learns what others do, and how much it is to free.
///
/// Safe from any thread. Nothing here waits, but for a status and to leave, allocates, or makes a call to the system while there
/// is nothing new to say. One thread at a time says and looks: another one goes by what is known, so that the thread that frees
/// memory never waits for a reader who was about to look and gets no processor.
package final class Board: Sendable {
    /// What this process has to say.
    package struct Own: Hashable, Sendable {
        package var member: ShortageShares.Member
        package var books: MemoryBooks.Reading
        /// Nanoseconds that readers waited for what had been evicted, ever.
        package var awaited: Int
        /// Resident bytes of the process; `nil` for as many as were said last.
        package var resident: Int?
        /// Bytes that are being loaded or restored.
        package var underWay = 0
        /// Free bytes of its heap.
        package var heap = 0
    }

    private struct State {
        var watch = PeerWatch()
        var limit = 0
        var published = BoardSlot()
        var claim: Double?
        var awaited = 0
        /// Nanoseconds a second that own readers wait.
        var waiting = 0.0
        var movedAt: MonotonicInstant?
        var lookedAt: MonotonicInstant?
        var notifiedAt: MonotonicInstant?
        var shortage = BoardShortage()
    }

    private let store: any BoardStore
    private let owner: UInt64
    private let share: MemoryShare
    private let state = Lock(State())
    /// What is known of the others.
    private let known = Published(Known())
    /// Whether somebody had something to say while another thread was at it, who says it then.
    private let isMissed = Atomic<Bool>(false)

    /// What is known of the others.
    private struct Known: BitwiseCopyable {
        var count = 0
        var books = MemoryBooks.Reading()
        var held = 0
        var free = 0
        var heap = 0
        var underWay = 0
        /// The part of a shortage that is this process's, as it was last worked out; of one that is to end soon.
        var part = 1.0
        var partSoon = 1.0
    }

    /// A look is as good as new for so long.
    static let freshness = Duration.microseconds(200)
    /// Others are not notified more often.
    static let rest = Duration.milliseconds(10)
    /// How often one thread says what others had to say.
    private static let mostTurns = 3
    /// Claims are moved no more often.
    private static let step = 0.1

    /// - Parameters:
    ///   - process: The process's number.
    ///   - now: When it joined, by which this slot's holder is told from earlier ones.
    package init(_ store: any BoardStore, share: MemoryShare, process: Int32, at now: MonotonicInstant) {
        self.store = store
        self.share = share
        let nonce = UInt32(truncatingIfNeeded: now.nanoseconds >> 10) | 1
        owner = UInt64(UInt32(bitPattern: process)) << 32 | UInt64(nonce)
    }

    // MARK: Exchange

    /// Says what there is to say and looks at the others.
    ///
    /// - Parameters:
    ///   - limit: What all share.
    ///   - reach: How far to look.
    ///   - own: Asked for when it is said, which may be later and by another thread.
    package func exchange(limit: Int, _ reach: Reach, at now: MonotonicInstant, _ own: () -> Own) {
        isMissed.store(true, ordering: .sequentiallyConsistent)
        // Who comes while this is at it leaves a word, and this says it; who comes after finds nobody at it. Not without end.
        for _ in 0..<Self.mostTurns where isMissed.load(ordering: .sequentiallyConsistent) {
            let isDone: Void? = state.withLockIfAvailable { state in
                isMissed.store(false, ordering: .sequentiallyConsistent)
                let own = own()
                state.limit = limit
                look(&state, reach, at: now)
                move(&state, own, at: now)
                publish(&state, own, at: now)
            }
            if isDone == nil { return }
        }
    }

    /// How far to look.
    package enum Reach: Hashable, Sendable {
        /// At those who are known, and where the next two would sit: who joins takes the first free slot. A load does.
        case known
        /// At all.
        case all
        /// At all, and the system is asked which of them are alive: it matters where little is left.
        case alive
    }

    /// Looks at the others, unless it has just been done.
    package func look(at now: MonotonicInstant) {
        _ = state.withLockIfAvailable { state in
            guard state.limit > 0, state.lookedAt.map({ now - $0 >= Self.freshness }) ?? false else { return }
            look(&state, .known, at: now)
        }
    }

    private func look(_ state: inout State, _ reach: Reach, at now: MonotonicInstant) {
        state.lookedAt = now
        let slots = reach == .known ? state.watch.reach(own: store.place) : BoardLayout.slots
        _ = store.read(slots: slots) { header, slot in
            if let shortage = BoardShortage(header) { state.shortage = shortage }
            state.watch.look(
                own: store.place,
                slots: slots,
                limit: state.limit,
                at: now,
                verifies: reach == .alive,
                isHeld: store.isHeld
            ) { BoardSlot(slot($0)) }
        }
        note { known in
            known.count = state.watch.count
            known.books = state.watch.books
            (known.held, known.free, known.heap, known.underWay) = state.watch.others
        }
    }

    /// Publishes what has become known. With the lock held.
    private func note(_ change: (inout Known) -> Void) {
        var now = known.value
        change(&now)
        known.store(now)
    }

    /// How own readers fare, and what claim follows.
    private func move(_ state: inout State, _ own: Own, at now: MonotonicInstant) {
        guard let last = state.movedAt, state.claim != nil else {
            state.movedAt = now
            state.awaited = own.awaited
            state.claim = MemoryClaim.bounded(share.weight * state.watch.meanClaim)
            return
        }
        let seconds = Double((now - last).nanoseconds) / 1e9
        guard seconds >= Self.step else { return }
        state.movedAt = now
        let waited = Double(max(0, own.awaited - state.awaited)) / seconds
        state.awaited = own.awaited
        state.waiting += (waited - state.waiting) * (1 - exp(-seconds / PeerWatch.smoothing))
        guard state.watch.count > 0, let claim = state.claim else { return }
        let (held, waiting) = (own.member.held, state.waiting * share.weight)
        guard let mean = state.watch.meanCost(held: held, waiting: waiting) else { return }
        state.claim = MemoryClaim.moved(claim, own: held > 0 ? waiting / Double(held) : 0, mean: mean, in: seconds)
    }

    private func publish(_ state: inout State, _ own: Own, at now: MonotonicInstant) {
        var slot = BoardSlot()
        slot.owner = owner
        slot.held = own.member.held
        slot.free = min(own.member.free, own.member.held)
        slot.dirty = min(own.member.dirty, own.member.held - slot.free)
        slot.heap = min(max(0, own.heap), state.limit)
        slot.books = own.books
        slot.awaited = own.awaited
        slot.claim = claim(state)
        slot.weight = share.weight
        slot.floor = min(share.floor.bytes, state.limit)
        slot.resident = own.resident ?? state.published.resident
        slot.underWay = min(own.underWay, state.limit)
        (slot.answered, slot.answerTime) = (state.published.answered, state.published.answerTime)
        if state.shortage.number != slot.answered, state.shortage.owner != owner {
            slot.answered = state.shortage.number
            slot.answerTime = max(.zero, now - state.shortage.at)
        }
        slot.at = state.published.at
        guard slot != state.published else { return }
        slot.at = now
        state.published = slot
        store.write(slot.words)
    }

    // MARK: What follows

    /// How many others there are.
    package var count: Int { known.value.count }

    /// What the others have brought in and given back since they are known.
    package var othersBooks: MemoryBooks.Reading { known.value.books }

    /// What the others hold, what of it they could give back at once, what is free in their heaps and what they are bringing in
    /// beside it.
    package var others: PeerWatch.Others {
        let known = known.value
        return (known.held, known.free, known.heap, known.underWay)
    }

    /// What this process is to free of so many bytes that are missing now.
    package func part(of need: Int, _ own: ShortageShares.Member, at now: MonotonicInstant) -> Int {
        let part = state.withLockIfAvailable { state in
            let part = state.watch.part(of: need, own: counted(own, state), at: now)
            if need > 0 { note { $0.part = Double(part) / Double(need) } }
            return part
        }
        return part ?? Int(known.value.part * Double(need))
    }

    /// What it would have to free of so many bytes in a shortage that is to end soon, as a part of them.
    package func part(ofShortage need: Int, _ own: ShortageShares.Member) -> Double {
        let part = state.withLockIfAvailable { state in
            let own = counted(own, state)
            let part = min(1, Double(state.watch.shares(of: need, own, .soon).part(own)) / Double(need))
            note { $0.partSoon = part }
            return part
        }
        return part ?? known.value.partSoon
    }

    /// What this process may hold once so much is free that is missing now. For a status: may wait for who says or looks.
    package func budget(_ own: ShortageShares.Member, need: Int) -> Int {
        state.withLock { state in
            let own = counted(own, state)
            return state.watch.shares(of: need, own).budget(own)
        }
    }

    private func claim(_ state: State) -> Double { state.claim ?? MemoryClaim.bounded(share.weight) }

    private func counted(_ own: ShortageShares.Member, _ state: State) -> ShortageShares.Member {
        var own = own
        own.claim = claim(state)
        own.floor = share.floor.bytes
        return own
    }

    /// Has the others look at who has come.
    package func announce() { store.notify() }

    /// Leaves the board, whoever else still has this. Takes no lock that a child of fork(2) could find held.
    package func leave() { store.leave() }

    /// Tells the others that so many bytes are missing, unless they have just been told.
    package func notify(need: Int, at now: MonotonicInstant) {
        let isDue = state.withLockIfAvailable { state in
            guard state.watch.count > 0, state.notifiedAt.map({ now - $0 >= Self.rest }) ?? true else { return false }
            // Somebody else has.
            guard now - state.shortage.at >= Self.rest || now < state.shortage.at else { return false }
            state.notifiedAt = now
            state.shortage.number += 1
            state.shortage.at = now
            state.shortage.need = need
            state.shortage.owner = owner
            store.write(header: state.shortage.words)
            return true
        }
        if isDue ?? false { store.notify() }
    }
}
