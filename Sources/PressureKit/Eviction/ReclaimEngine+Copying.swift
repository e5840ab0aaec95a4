import PressureSignals
import PressureSystem
import SpillStore
import Synchronization

/// What a round does about the victims that need a copy.
extension ReclaimEngine {
    /// Has victims copied, and releases each as soon as its copy is complete.
    func spill(_ progress: inout Progress, victims: Range<Int>, deadline: MonotonicInstant?) {
        guard !victims.isEmpty else { return }
        let storage = progress.storage
        let copier = progress.target.copier
        pool.begin(
            storage,
            victims: victims,
            with: copier,
            deadline: deadline,
            isAlone: !progress.isUrgent,
            isAside: progress.isAside
        )
        while true {
            let step = progress.isAside ? pool.nextStep(atMost: Self.patience) : pool.nextStep()
            // Somebody may have said so before it was begun.
            if progress.isAside, progress.priority?.isUrgent ?? false { pool.hurry() }
            let isHurried = progress.isHurried?() ?? false
            if isHurried, !progress.isCutShort {
                progress.isCutShort = true
                progress.nextChoice = pool.abandon()
            }
            switch step {
            case .look: if isHurried { releaseBeside(&progress) }
            case .work(let unit): pool.work(on: unit)
            case .finished(let victim):
                finish(victim, &progress)
                if progress.look() { pool.suspend() }
                if lookAtWriteback(&progress) { pool.suspend() }
            case .done:
                if pool.isLate { progress.missedDeadline = deadline }
                let reason = pool.isLate ? EvictionReport.SkipReason.deadline : .spillSuspended
                progress.allocations += pool.end()
                if progress.hasEnded { return }
                for victim in victims {
                    // Never begun: the pool was told to stop.
                    let outcome = unsafe storage.outcomes[victim]
                    if outcome.copyStart == nil, !outcome.isGone { skip(victim, storage, reason) }
                }
                return
            }
        }
    }

    /// Others take memory, and what is being written does not come to an end: it may have to wait for memory itself, or for the disk.
    /// What can be made again goes without a copy, as much as is to be free at a time, and the heap is given back.
    private func releaseBeside(_ progress: inout Progress) {
        let storage = progress.storage
        let enough = progress.freed + (progress.room?.high ?? Self.trimFloor)
        // No value takes the place of these.
        WarmPages.shared.close()
        defer { WarmPages.shared.reopen() }
        while progress.freed < enough {
            let victim = progress.nextChoice
            guard victim < storage.victimCount || storage.addVictim() else { break }
            progress.nextChoice += 1
            let place = unsafe storage.place(ofVictim: victim)
            // Retained by the storage.
            let entry = unsafe place.entry.takeUnretainedValue()
            guard let method = unsafe entry.wayOutAtOnce(place.slot) else { continue }
            unsafe storage.candidates[storage.candidate(ofVictim: victim)].method = method
            release(victim, &progress, dropping: method == .drop)
        }
        if progress.unreturned >= heap.worthGivingBack(in: progress.room) { trim(&progress) }
    }

    /// How long a write may take until the thread that frees memory looks around: at 300 MB/s others take 1.5 MB meanwhile.
    private static let patience = Duration.milliseconds(5)

    /// A victim's copy is complete, has failed, or was not begun because its state had changed.
    private func finish(_ victim: Int, _ progress: inout Progress) {
        let storage = progress.storage
        let place = unsafe storage.place(ofVictim: victim)
        // Retained by the storage.
        let entry = unsafe place.entry.takeUnretainedValue()
        let outcome = unsafe storage.outcomes[victim]
        guard outcome.copyStart != nil else {
            unsafe storage.outcomes[victim].copyStart = clock.now()
            skip(victim, storage, .busy)
            return
        }
        let stored = unsafe entry.finishCopy(
            place.slot,
            succeeded: outcome.failure == nil,
            isProvisional: outcome.isProvisional
        )
        let method = unsafe storage.candidates[storage.candidate(ofVictim: victim)].method
        if let failure = outcome.failure {
            // Where it was to go is memory: that it does not fit or shrink is no failure, but the reason why it stays.
            if method == .compress {
                progress.hasIncompressible = true
                return skip(victim, storage, .notCompressible)
            }
            if outcome.isUntried { return skip(victim, storage, .spillSuspended) }
            storage.tally.add(entry, .failed) { ($0.failure, $0.server) = (failure, progress.target.server) }
            progress.target.note(failure)
            if !progress.target.mayWrite { pool.suspend() }
            entry.statistics.failures.wrappingAdd(1, ordering: .relaxed)
            skip(victim, storage, .spillFailed)
            return
        }
        if method == .spill { progress.target.note(nil) }
        unsafe storage.outcomes[victim].storedBytes = stored
        entry.statistics.noteWrite(outcome.copyTime, byteCount: outcome.plainBytes)
        release(victim, &progress, dropping: false)
    }

    /// Notes, once for the report, that write-back has failed: whether it has, since the last look.
    @discardableResult
    func lookAtWriteback(_ progress: inout Progress) -> Bool {
        // A server has none.
        guard let failure = primary.takeLateFailure() else { return false }
        progress.lateFailure = failure
        return true
    }
}
