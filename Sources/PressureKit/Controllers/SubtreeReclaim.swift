import PressureSignals
import PressureSystem

/// A reclaim of one subtree, outside the manager's own: what keeps a controller to its budget, and what takes the values
/// that a veto had kept. On the calling thread; blocks on the disk, and allocates.
struct SubtreeReclaim {
    let root: PressureController
    let context: ManagerContext

    /// Frees `goal` bytes, or with `nil` everything, of what is below the root and not in use.
    ///
    /// - Parameters:
    ///   - goal: bytes.
    ///   - isHeld: whether only those are taken that a reclaim had left because of a veto.
    ///   - source: what asks, for the report.
    func run(goal: Int?, isHeld: Bool = false, source: String) -> EvictionReport {
        let start = context.clock.now()
        let level = context.scene.level
        var report = EvictionReport(
            cause: PressureCause(origin: .request, source: source, levelBefore: level, levelAfter: level)
        )
        report.goal = goal.map(ByteCount.init(bytes:))
        let before = context.engine.residentBytes()
        var entries: [(entry: CacheEntry, isVisible: Bool)] = []
        root.collectEntries(into: &entries)
        if isHeld { entries = entries.filter { $0.entry.traits.current.isHeld } }
        root.ask()
        let engine = context.engine
        let now = UseClock.tick()
        let moment = engine.history.withLock { $0.moment(at: now) }
        let storage = PlanStorage()
        storage.reserve(values: entries.reduce(0) { $0 + $1.entry.valueCount }, caches: entries.count)
        storage.begin(engine.policy, at: moment, goal: goal)
        let canSpill = engine.canSpill
        defer { if engine.policy.learnsUses { engine.history.withLock { $0.learn(storage.seen, at: now) } } }
        for (entry, isVisible) in entries { storage.add(entry, isVisible: isVisible, depth: 0) }
        storage.list(canSpill: canSpill)
        // The storage has as many choices as candidates.
        let plan = unsafe Planner.plan(
            UnsafeBufferPointer(rebasing: storage.candidates[..<storage.candidateCount]),
            choices: UnsafeMutableBufferPointer(rebasing: storage.choices[..<storage.candidateCount]),
            goal: goal,
            policy: engine.policy,
            at: moment
        )
        for victim in 0..<storage.beginVictims(plan.count) { evict(victim, storage, moment, &report) }
        // What could not be written, or is in use, is still wanted: the veto that is gone was not the only reason.
        if isHeld { for (entry, _) in entries where entry.residentByteCount > 0 { entry.traits.hold() } }
        report.fill(from: storage.tally, isMemoryBacked: engine.isMemoryBacked)
        report.returned = ByteCount(bytes: before - engine.residentBytes())
        report.duration = context.clock.now() - start
        return report
    }

    private func evict(_ victim: Int, _ storage: PlanStorage, _ moment: PlanMoment, _ report: inout EvictionReport) {
        let place = unsafe storage.place(ofVictim: victim)
        let candidate = unsafe storage.candidates[storage.candidate(ofVictim: victim)]
        // Retained by the storage.
        let entry = unsafe place.entry.takeUnretainedValue()
        if candidate.method.needsCopy, unsafe !context.engine.spill(entry, place.slot) {
            return storage.skip(entry, .spillFailed, footprint: candidate.footprint)
        }
        entry.statistics.noteReclaim(horizon: moment.horizon, moment.scale)
        guard let bytes = unsafe entry.release(place.slot, dropping: candidate.method == .drop) else {
            return storage.skip(entry, .pinned, footprint: candidate.footprint)
        }
        report.claimed.bytes += bytes
        storage.tally.add(entry, .evicted(candidate.method.outcome)) { $0.bytes += bytes }
    }
}

extension PressureController {
    /// The caches of this controller and all below it, and whether they can be seen.
    func collectEntries(into found: inout [(entry: CacheEntry, isVisible: Bool)]) {
        let (entries, isSeen, below) = state.withLock { ($0.entries, $0.isSeen, $0.below) }
        found += entries.map { ($0, isSeen) }
        for controller in below { controller.collectEntries(into: &found) }
    }

    /// Asks again for what a reclaim had left in memory because of a veto (`shouldEvict`), here and below, and evicts what
    /// is not vetoed any more. Call it when the reason for a veto is gone: the memory may still be wanted. What cannot leave then,
    /// being in use or because the disk is full, is what the next call asks for.
    ///
    /// Suspends until that is done; the work is done on a thread of the library's own. Evicts nothing when no veto stood
    /// in the way of a reclaim, or the controller is in no manager's tree.
    @discardableResult
    public func attemptEviction() async -> EvictionReport {
        let cause = PressureCause(
            origin: .request,
            source: "attemptEviction",
            levelBefore: .normal,
            levelAfter: .normal
        )
        guard let context else { return EvictionReport(cause: cause) }
        let reclaim = SubtreeReclaim(root: self, context: context)
        let report = try? await BlockingPool.restores.run {
            reclaim.run(goal: nil, isHeld: true, source: "attemptEviction")
        }
        guard let report, !report.evicted.isEmpty else { return report ?? EvictionReport(cause: cause) }
        context.events.deliver(.reclaimFinished(report))
        return report
    }
}
