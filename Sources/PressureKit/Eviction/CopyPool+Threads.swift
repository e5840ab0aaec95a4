import PressureSystem
import SpillStore

/// What the pool's threads do all their life.
extension CopyPool.Tools {
    /// A helper's life.
    func help(with encoder: ChunkEncoder, _ number: Int) {
        var isTouched = false
        while true {
            switch nextTurn(of: number, isTouched: isTouched) {
            case .work(let unit):
                isTouched = true
                copyAndCount(unit, with: encoder)
            case .rest:
                encoder.giveBack()
                isTouched = false
            case .end: return
            }
        }
    }

    /// The life of the thread that stands in for the leader.
    func standIn(_ priority: ThreadPriority) {
        while true {
            switch nextTurnInPlace() {
            case .work(let unit):
                copyAndCount(unit, with: encoder)
                priority.yield()
            // Wakes the leader.
            case .rest: state.withLock { _ in }
            case .end: return
            }
        }
    }

    private func copyAndCount(_ unit: CopyJob.Unit, with encoder: ChunkEncoder) {
        let before = probe()
        copy(unit, with: encoder, isLeader: false)
        let made = probe() - before
        if made != 0 { state.withQuietLock { $0.helpersAllocations += made } }
    }

    /// What a thread does next.
    private enum Turn {
        case work(CopyJob.Unit)
        /// Helpers give their scratch back; whoever stands in for the leader tells it that there is nothing left to begin.
        case rest
        /// The pool is gone.
        case end
    }

    private func nextTurn(of number: Int, isTouched: Bool) -> Turn {
        state.wait { state in
            if state.isStopped { return .end }
            let helps = number < state.width && !state.isAlone
            if helps, let unit = state.job?.takeUnit(now: clock.now()) { return .work(unit) }
            return isTouched && state.givesBack && state.job == nil ? .rest : nil
        }
    }

    private func nextTurnInPlace() -> Turn {
        state.wait { state in
            if state.isStopped { return .end }
            guard state.isAside, state.job != nil else { return nil }
            if let unit = state.job?.takeUnit(now: clock.now()) { return .work(unit) }
            // Looking for work may have finished victims that need none.
            guard !state.isTold else { return nil }
            state.isTold = true
            return .rest
        }
    }

    /// Changes the state, and wakes who waits for that, if anybody may: the leader for what helpers have finished, helpers for a
    /// job.
    func change<Result>(isAwaited: Bool, _ body: (inout CopyPool.State) -> Result) -> Result {
        isAwaited ? state.withLock(body) : state.withQuietLock(body)
    }

    /// Copies some chunks of a victim, or some small victims, and says so.
    func copy(_ unit: CopyJob.Unit, with encoder: ChunkEncoder, isLeader: Bool) {
        guard case (let storage?, let copier?) = state.withQuietLock({ ($0.storage, $0.copier) }) else { return }
        guard unit.count == 1 else {
            // One is finished every few microseconds, and whoever is woken for each takes longer.
            copier.copyBatch(unit.victim..<unit.victim + unit.count, of: storage, with: encoder) { victim, result in
                state.withQuietLock { $0.job?.finish(victim, of: unit, result, now: clock.now()) }
            }
            change(isAwaited: !isLeader) { $0.job?.end(unit) }
            return
        }
        let place = unsafe storage.place(ofVictim: unit.victim)
        // The storage retains every entry it lists until the job has ended.
        let entry = unsafe place.entry.takeUnretainedValue()
        let result = unsafe copier.copy(unit.chunks, of: entry, place.slot, with: encoder, for: storage.purpose)
        change(isAwaited: !isLeader) { $0.job?.finish(unit, result, now: clock.now()) }
    }
}
