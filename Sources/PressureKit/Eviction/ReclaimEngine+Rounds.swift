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

    /// Lets a victim go, which needs no copy or has one; gives the heap back if others need that by now.
    func release(_ victim: Int, _ progress: inout Progress, dropping: Bool) {
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

    /// Notes why a victim stays.
    func skip(_ victim: Int, _ storage: PlanStorage, _ reason: EvictionReport.SkipReason) {
        let footprint = unsafe storage.candidates[storage.candidate(ofVictim: victim)].footprint
        // Retained by the storage.
        unsafe storage.skip(storage.place(ofVictim: victim).entry.takeUnretainedValue(), reason, footprint: footprint)
    }

    /// Gives back what values have left in the heap.
    func trim(_ progress: inout Progress) {
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
    static let trimFloor = 1 << 20
}
