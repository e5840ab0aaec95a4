import CLinuxShims
import PressureSystem
import Synchronization

/// Waiting for memory: until it has come free, until the overdraft bears the load, or until nothing moves.
extension Admission {
    /// Why a reader waits no longer.
    enum Outcome {
        /// What it needs has come free, or the reclaim freed about as much.
        case reclaimed
        /// The reclaim has ended and brought next to nothing.
        case fruitless
        /// It goes on although too little was freed.
        case overdrawn
    }

    /// A load that waits, and what it goes by.
    struct Wait: Sendable {
        /// What came of the reclaim that was asked for; `nil` while it goes on.
        final class Answer: Sendable {
            let returned: Lock<ByteCount?>
            init(_ returned: ByteCount?) { self.returned = Lock(returned) }
        }

        fileprivate(set) var pass: Pass
        let shortage: ByteCount
        let supply: Supply
        let start: MonotonicInstant
        let answer: Answer
        /// Whether a load that is under way waits for this one.
        let isNested: Bool
        fileprivate var returnedBefore: Int
        fileprivate var isPatient = true
        /// When it asked for a sample.
        fileprivate var askedAt: MonotonicInstant?
        /// How often patience has ended and nothing had come free.
        fileprivate var vain = 0
    }

    /// Has a shortage freed and waits until a load, which has begun, may go on. Blocks. Returns what it goes on with.
    func wait(for pass: Pass, _ shortage: ByteCount, _ supply: Supply, isNested: Bool = false) -> Pass {
        guard var wait = beginWaiting(for: pass, shortage, supply, isNested: isNested) else { return pass }
        while true {
            let outcome = books.wait(atMost: patience) { look(&wait) }
            if isOver(&wait, outcome) { return wait.pass }
        }
    }

    /// Has a shortage freed for a load that is to wait for it; `nil` when it is not to wait.
    func beginWaiting(for pass: Pass, _ shortage: ByteCount, _ supply: Supply, isNested: Bool = false) -> Wait? {
        let start = clock.now()
        guard !Self.isThisThreadExempt else {
            settle(false, since: start)
            return nil
        }
        state.beginWaiting(pass.bytes)
        // Others need not wait for what waits itself.
        let room = supply.room()
        if let room { tell(in: room, supply) }
        // Before the first sample nothing is missing; others have to end.
        let mayAsk = room != nil && self.mayAsk(at: start)
        // Within the pause after a fruitless reclaim, that one's is the answer.
        let answer = Wait.Answer(mayAsk || room == nil ? nil : .zero)
        if mayAsk {
            supply.reclaim(shortage) { [weak self] returned in
                self?.note(returned, of: shortage)
                answer.returned.withLock { $0 = returned }
            }
        }
        return Wait(
            pass: pass,
            shortage: shortage,
            supply: supply,
            start: start,
            answer: answer,
            isNested: isNested,
            returnedBefore: returned(supply)
        )
    }

    /// Whether a load waits no longer, after what it has seen: `nil` for nothing, throughout its patience.
    func isOver(_ wait: inout Wait, _ outcome: Outcome?) -> Bool {
        switch outcome {
        case .reclaimed?: settle(true, since: wait.start)
        case .overdrawn?: settle(false, since: wait.start)
        case .fruitless?:
            // Another one would bring no more; somebody may give back what is in use now.
            wait.answer.returned.withLock { $0 = nil }
            return false
        case nil:
            let returned = returned(wait.supply)
            // As long as memory comes free it is worth waiting for: the disk is slow, and not stuck.
            if returned == wait.returnedBefore {
                // One at a time: what others are at will end, and take less then.
                wait.vain += 1
                let isLate = wait.isNested || wait.vain >= Self.mostVain
                guard state.endWaiting(wait.pass.bytes, if: { isLate || $0.underWay <= $0.waiting }) else {
                    return false
                }
                settle(false, since: wait.start)
                return true
            }
            wait.returnedBefore = returned
            wait.isPatient = false
            return false
        }
        return true
    }

    /// What has come free below the limit, whoever freed it.
    private func returned(_ supply: Supply) -> Int {
        supply.room().map { reading(in: $0, supply).returned } ?? books.reading.returned
    }

    /// A load that waits is given up.
    func giveUp(_ wait: Wait) { state.endWaiting(wait.pass.bytes) }

    /// Whether the load may go on now, or what it lacks.
    func look(_ wait: inout Wait) -> MemoryBooks.Look<Outcome> {
        correct(&wait.pass)
        let (bytes, answer) = (wait.pass.bytes, wait.answer.returned.withLock { $0 })
        if isSequential {
            // Nothing but the reclaim's end is waited for.
            guard let answer else { return .lacks(.max) }
            state.endWaiting(bytes)
            // One that frees half of what was wanted has been worth it.
            return .found(answer.bytes >= wait.shortage.bytes / 2 ? .reclaimed : .overdrawn)
        }
        guard let room = wait.supply.room() else {
            guard let firstLimit else { return .lacks(.max) }
            let mayGo = state.endWaiting(bytes, if: { $0.mayGoUnseen(bytes, below: firstLimit, isWaiting: true) })
            return mayGo ? .found(.reclaimed) : .lacks(0)
        }
        guard isFresh(room, for: &wait) else { return .lacks(.max) }
        let reading = reading(in: room, wait.supply)
        if let beside = wait.supply.neighbours?.underWay(at: room.place) {
            state.beside.store(beside, ordering: .relaxed)
        }
        // A reclaim that has ended will not bring more, and patience has an end.
        let mayOverdraw = answer != nil || !wait.isPatient
        if state.endWaiting(bytes, if: { $0.fits(bytes, in: room, reading) }),
            isMine(bytes, in: room, wait, { $0.margin(in: room, reading) >= 0 })
        {
            return .found(.reclaimed)
        }
        if mayOverdraw, state.endWaiting(bytes, if: { $0.mayOverdraw(bytes, in: room, reading) }),
            isMine(bytes, in: room, wait, { $0.mayOverdraw(0, in: room, reading) })
        {
            return .found(.overdrawn)
        }
        guard answer == nil else { return .found(.fruitless) }
        // What others give back is not in the books that wake.
        let isShared = wait.supply.neighbours.map { $0.sharers(at: room.place) > 1 } ?? false
        return .lacks(
            isShared ? 0 : state.ledger.lack(of: bytes, in: room, reading) - (mayOverdraw ? room.overdraft : 0)
        )
    }

    /// Whether a sample is new enough for one who waits; else one comes. What loaders leave in the heap is in no books: with 64 of
    /// them, a sample of 50 ms ago speaks of another process.
    ///
    /// One that was asked for is, however late the reader gets a processor: he would ask for ever.
    private func isFresh(_ room: AdmissionRoom, for wait: inout Wait) -> Bool {
        let now = clock.now()
        if now - room.askedAt <= AdmissionLedger.freshness { return true }
        if let asked = wait.askedAt, room.askedAt >= asked {
            wait.askedAt = nil
            return true
        }
        wait.askedAt = now
        return !wait.supply.ask()
    }

    /// Tells those who share the limit that a load goes on, and looks again: somebody may have taken the same room at the same
    /// moment. Then it waits on.
    private func isMine(_ bytes: Int, in room: AdmissionRoom, _ wait: Wait, _ fits: (AdmissionLedger) -> Bool) -> Bool {
        tell(in: room, wait.supply)
        guard state.beside.load(ordering: .relaxed) > 0, !fits(state.ledger) else { return true }
        state.beginWaiting(bytes)
        tell(in: room, wait.supply)
        return false
    }

    /// A load that hangs keeps others waiting for so many times the patience.
    private static let mostVain = 10

    private func settle(_ isReclaimed: Bool, since start: MonotonicInstant) {
        state.count(isReclaimed, after: clock.now() - start)
    }

    /// Learns from a reclaim that has ended: after one that brought next to nothing none is asked for, for a while.
    func note(_ returned: ByteCount, of shortage: ByteCount) {
        let now = clock.now()
        let isFruitless = returned.bytes < shortage.bytes / 4
        state.fruitlessUntil.set(isFruitless ? now + Self.pause : nil)
    }
}
