import CLinuxShims
import PressureSignals
import PressureSystem
import SpillStore
import Synchronization

/// A reclaim: rounds of planning, releasing and copying, until its target is reached, and what came of them.
extension ReclaimEngine {
    /// Begins a reclaim.
    func begin() -> Progress {
        guard let taken = storage.take() else {
            preconditionFailure("a reclaim was begun while another was running")
        }
        let progress = Progress(taken, to: primary, residentBefore: residentBytes())
        WarmPages.shared.close()
        return progress
    }

    /// Plans and carries out one round towards an amount in total. Allocates nothing.
    func round(
        _ progress: inout Progress,
        root: some CandidateSource,
        amount: ReclaimAmount,
        sample: PlanSample = .all,
        pace: PlanPace = .reclaim
    ) {
        let allocationsBefore = probe()
        let freedBefore = progress.freed
        let start = clock.now()
        let storage = progress.storage
        let target = self.target
        progress.target = target ?? primary
        let canSpill = target != nil
        let pace = pace == .reclaim && progress.isHurried?() ?? false ? PlanPace.hasty : pace
        progress.isHasty = pace == .hasty
        if progress.isHasty { progress.isHurried = nil }
        progress.isCutShort = false
        let compression =
            progress.hasIncompressible && canSpill ? CompressedTierUse.none : compression(beside: target)
        var moment = moment(&progress)
        moment.isSteady = pace == .steady
        storage.purpose = moment.isSteady ? .trade : .reclaim
        progress.target.file.writes(steadily: moment.isSteady)
        // A share is a number only when all has been seen.
        let stated = amount.mostBytes.map { $0 - progress.freed }
        let wantsAll = amount.share >= 1 || policy.takesEverything
        storage.begin(
            policy,
            at: moment,
            goal: stated,
            wantsAll: wantsAll,
            compression: compression,
            sample: sample,
            pace: pace,
            priority: progress.priority,
            isLocated: progress.beside != nil
        )
        storage.keepsEverything = progress.target.file.fileSystem.keepsEverything
        root.collectOwners(in: storage)
        storage.list(canSpill: canSpill)
        let dirtyBytes = storage.seenBytes - storage.seenFreeBytes
        reclaimability.withLock {
            $0.note(
                free: storage.seenFreeBytes,
                dirty: dirtyBytes,
                kept: storage.keptBytes,
                bound: storage.seenBoundBytes
            )
        }
        let evictable = progress.evictable ?? storage.seenBytes
        progress.evictable = evictable
        let goal = amount.goal(evictable: evictable).map { $0 - progress.freed }
        let plan = plan(&progress, goal: goal, sample: sample, canSpill: canSpill, at: moment)
        progress.priority?.yield()
        let victims = storage.beginVictims(plan.count)
        progress.prediction += plan.prediction
        progress.last = plan.last ?? progress.last
        let planned = clock.now()
        progress.phases.plan += planned - start

        let trimmedBefore = progress.phases.trim
        let firstSpill = releaseFree(&progress, victims: 0..<victims, deadline: amount.deadline)
        let released = clock.now()
        let trimmedBetween = progress.phases.trim
        progress.phases.release += released - planned - (trimmedBetween - trimmedBefore)

        // Writing may take long, and may itself wait for memory.
        if firstSpill < victims, progress.wantsTrim(of: heap) { trim(&progress) }
        let freedBeforeSpill = progress.freed
        spill(&progress, victims: firstSpill..<victims, deadline: amount.deadline)
        lookAtWriteback(&progress)
        let spilled = clock.now()
        progress.phases.spill += spilled - released - (progress.phases.trim - trimmedBetween)
        reclaimability.withLock { $0.noteWriting(progress.freed - freedBeforeSpill, in: spilled - released) }
        // Everything was tried, or nothing went: what is left is in use or cannot be written. If writing has just been
        // suspended, what can be made again may go without.
        let isLate = progress.missedDeadline != nil && progress.missedDeadline == amount.deadline
        let isStuck = goal == nil && !storage.isTruncated || progress.freed == freedBefore
        // Or what does not shrink has the disk to go to.
        let isForDisk = progress.hasIncompressible && compression != .none && canSpill
        progress.isExhausted =
            !isLate && !progress.isCutShort && !isForDisk && target === self.target && isStuck
        spare(progress)
        progress.allocations += probe() - allocationsBefore
    }

    /// Chooses the victims among what is listed; where small values leave for others, by where they lie.
    private func plan(
        _ progress: inout Progress,
        goal: Int?,
        sample: PlanSample,
        canSpill: Bool,
        at moment: PlanMoment
    ) -> Planner.Plan {
        let storage = progress.storage
        var (order, goal) = (policy, goal)
        if let beside = progress.beside {
            if storage.narrow(to: beside.bytes, canSpill: canSpill) {
                (order, goal, progress.goal) = (RegionOrder(), beside.bytes, beside.bytes)
            } else if beside.otherwise != sample {
                storage.relist(beside.otherwise, canSpill: canSpill)
            }
        }
        var plan = unsafe Planner.plan(
            UnsafeBufferPointer(rebasing: storage.candidates[..<storage.candidateCount]),
            choices: UnsafeMutableBufferPointer(rebasing: storage.choices[..<storage.candidateCount]),
            goal: goal,
            policy: order,
            at: moment
        )
        // The hand stays where it is.
        if storage.isNarrowed { plan.last = nil }
        return plan
    }

    /// The moment of a round: no value is younger than that.
    private func moment(_ progress: inout Progress) -> PlanMoment {
        let now = UseClock.tick()
        let reserved = reservedValues
        var moment =
            progress.moment ?? history.withLock { $0.begin(at: now, count: $0.seen > 0 ? $0.seen : reserved) }
        moment.now = now
        progress.moment = moment
        return moment
    }

    /// Releases the victims that need no copy, which the plan puts first; returns where the others begin.
    private func releaseFree(_ progress: inout Progress, victims: Range<Int>, deadline: MonotonicInstant?) -> Int {
        let storage = progress.storage
        for victim in victims {
            if let deadline, clock.now() >= deadline {
                progress.missedDeadline = deadline
                skipRest(victim, victims.upperBound, storage)
                return victims.upperBound
            }
            let method = unsafe storage.candidates[storage.candidate(ofVictim: victim)].method
            guard !method.needsCopy else { return victim }
            if progress.look() { return victims.upperBound }
            if (victim - victims.lowerBound) % PlanStorage.mostSlots == 0 {
                storage.revokeBias(ofVictims: victim..<victims.upperBound)
            }
            release(victim, &progress, dropping: method == .drop)
        }
        return victims.upperBound
    }

    private func skipRest(_ first: Int, _ end: Int, _ storage: PlanStorage) {
        for victim in first..<end { skip(victim, storage, .deadline) }
    }

    /// Has the other victims copied, and releases each as soon as its copy is complete.
    private func spill(_ progress: inout Progress, victims: Range<Int>, deadline: MonotonicInstant?) {
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
    private func lookAtWriteback(_ progress: inout Progress) -> Bool {
        // A server has none.
        guard let failure = primary.takeLateFailure() else { return false }
        progress.lateFailure = failure
        return true
    }

    private func release(_ victim: Int, _ progress: inout Progress, dropping: Bool) {
        let storage = progress.storage
        let place = unsafe storage.place(ofVictim: victim)
        // Retained by the storage.
        let entry = unsafe place.entry.takeUnretainedValue()
        if victim % Self.victimsBetweenYields == 0 { progress.priority?.yield() }
        let start = clock.now()
        if let moment = progress.moment { entry.statistics.noteReclaim(horizon: moment.horizon, moment.scale) }
        guard let bytes = unsafe entry.release(place.slot, dropping: dropping) else {
            return skip(victim, storage, .pinned)
        }
        entry.noteInBooks(evicted: bytes)
        clock.spent(on: .releasing, byteCount: bytes)
        let releaseTime = clock.now() - start
        unsafe storage.outcomes[victim].isGone = true
        let outcome = unsafe storage.outcomes[victim]
        let method = unsafe storage.candidates[storage.candidate(ofVictim: victim)].method
        // A copy in memory takes part of what was freed.
        let gained = method == .compress ? bytes - outcome.storedBytes : bytes
        progress.freed += gained
        if progress.mayTrim(by: clock), progress.wantsTrim(of: heap) { trim(&progress) }
        storage.tally.add(entry, .evicted(method.outcome)) { row in
            row.bytes += gained
            row.plainBytes += outcome.plainBytes
            row.storedBytes += outcome.storedBytes
            row.copyTime += outcome.copyTime
            row.releaseTime += releaseTime
        }
    }

    private func skip(_ victim: Int, _ storage: PlanStorage, _ reason: EvictionReport.SkipReason) {
        let footprint = unsafe storage.candidates[storage.candidate(ofVictim: victim)].footprint
        // Retained by the storage.
        unsafe storage.skip(storage.place(ofVictim: victim).entry.takeUnretainedValue(), reason, footprint: footprint)
    }

    private func trim(_ progress: inout Progress) {
        let start = clock.now()
        heap.giveBack(beside: progress.room, unreturned: progress.unreturned)
        progress.noteTrim(from: start, to: clock.now())
    }

    // MARK: Afterwards

    /// Trims the heap if resident memory did not follow, and gives the storage back. Allocates.
    func end(_ progress: inout Progress, report: inout EvictionReport) {
        report.claimed = ByteCount(bytes: progress.freed)
        var returned = progress.residentBefore - residentBytes()
        if progress.freed >= Self.trimFloor, returned < progress.freed * 95 / 100 {
            trim(&progress)
            returned = progress.residentBefore - residentBytes()
        }
        report.trimmed = progress.isTrimmed
        report.returned = ByteCount(bytes: returned)
        report.phases = progress.phases
        report.predicted = EvictionReport.Prediction(progress.prediction, workers: workers)
        report.allocations = isProbed ? progress.allocations : nil
        report.fill(from: progress.storage.tally, isMemoryBacked: isMemoryBacked)
        lookAtWriteback(&progress)
        // Of no cache in particular: which values have lost their copies shows when they are read.
        if let failure = progress.lateFailure { report.failures.append(failure.pressureError(server: nil)) }
        WarmPages.shared.reopen()
        storage.putBack(progress.storage)
    }

    /// What the next plan has to know of this one: where the hand stopped, and that the others have been spared. What a
    /// round left for the next one has not been.
    private func spare(_ progress: Progress) {
        let storage = progress.storage
        if let moment = progress.moment, policy.learnsUses {
            history.withLock { $0.learn(storage.seen, at: moment.now) }
            storage.forgetSeen()
        }
        guard let last = progress.last, let moment = progress.moment, !storage.isTruncated else { return }
        history.withLock { $0.note(hand: policy.hand(afterTaking: last, at: moment), seen: storage.population) }
        // Where the victims are is known only from the choices, which name their candidates.
        for index in 0..<storage.candidateCount {
            if index % Self.sparedBetweenYields == 0 { progress.priority?.yield() }
            let choice = unsafe Int(storage.choices[index].index)
            let isVictim = index < storage.victimCount
            if isVictim, unsafe storage.outcomes[index].isGone { continue }
            let place = unsafe storage.places[choice]
            let hits = unsafe policy.hits(afterSparing: storage.candidates[choice], last: last, at: moment)
            // Retained by the storage.
            unsafe place.entry._withUnsafeGuaranteedRef { unsafe $0.wasSpared(place.slot, hits: hits) }
        }
    }

    /// Releasing one takes some five microseconds, copying it before some ten, sparing one a tenth.
    private static let (victimsBetweenYields, sparedBetweenYields) = (16, 1024)

    /// Trimming walks every arena (4–5 ms for 59 MB, measured), which less than this is not worth; WebKit and systemd
    /// draw the line at the same place.
    private static let trimFloor = 1 << 20
}
