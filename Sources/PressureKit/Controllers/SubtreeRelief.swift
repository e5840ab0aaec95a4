/// A relief of one subtree, outside the manager's own: what keeps a controller to its budget, and what takes the values
/// that a veto had kept. On the calling thread; blocks on the disk, and allocates.
struct SubtreeRelief {
    let root: PressureController
    let context: ManagerContext

    /// Frees `goal` bytes, or with `nil` everything, of what is below the root and not in use.
    ///
    /// - Parameters:
    ///   - goal: bytes.
    ///   - isHeld: whether only those are taken that a relief had left because of a veto.
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
        let storage = PlanStorage()
        storage.reserve(values: entries.reduce(0) { $0 + $1.entry.valueCount }, caches: entries.count)
        let moment = PlanMoment(now: UseClock.tick())
        storage.begin(context.engine.policy, at: moment, goal: goal, compression: .none)
        let canSpill = context.engine.canSpill
        for (entry, isVisible) in entries {
            entry.list(in: storage, canSpill: canSpill, isVisible: isVisible, depth: 0)
        }
        report.claimed = ByteCount(bytes: evict(storage, goal: goal, at: moment))
        report.fill(from: storage.tally, isMemoryBacked: context.engine.isMemoryBacked)
        report.returned = ByteCount(bytes: before - context.engine.residentBytes())
        report.duration = context.clock.now() - start
        return report
    }

    /// Plans and carries out; the bytes freed.
    private func evict(_ storage: PlanStorage, goal: Int?, at moment: PlanMoment) -> Int {
        let count = storage.candidateCount
        // The storage has at least as many choices as candidates.
        let plan = unsafe Planner.plan(
            UnsafeBufferPointer(rebasing: storage.candidates[0..<count]),
            choices: UnsafeMutableBufferPointer(rebasing: storage.choices[0..<count]),
            goal: goal,
            policy: context.engine.policy,
            at: moment
        )
        var freed = 0
        for victim in 0..<storage.beginVictims(plan.count) {
            // Within the plan; the storage retains the entries.
            let place = unsafe storage.place(ofVictim: victim)
            let entry = unsafe place.entry.takeUnretainedValue()
            let candidate = unsafe storage.candidates[storage.candidate(ofVictim: victim)]
            if candidate.way == .spill, unsafe !context.engine.spill(entry, place.slot) {
                storage.skip(entry, .spillFailed, footprint: candidate.footprint)
                continue
            }
            guard let bytes = unsafe entry.release(place.slot, dropping: candidate.way == .drop) else {
                storage.skip(entry, .pinned, footprint: candidate.footprint)
                continue
            }
            freed += bytes
            storage.tally.add(entry, .evicted(candidate.way.disposition)) { $0.bytes += bytes }
        }
        return freed
    }
}

extension PressureController {
    /// The caches of this controller and all below it, and whether they can be seen.
    func collectEntries(into found: inout [(entry: CacheEntry, isVisible: Bool)]) {
        let (entries, isSeen, below) = state.withLock { ($0.entries, $0.isSeen, $0.below) }
        found += entries.map { ($0, isSeen) }
        for controller in below { controller.collectEntries(into: &found) }
    }

    /// Asks again for what a relief had left in memory because of a veto (`shouldEvict`), here and below, and evicts what
    /// is not vetoed any more. Call it when the reason for a veto is gone: the memory may still be wanted.
    ///
    /// Suspends until that is done; the work is done on a thread of the library's own. Evicts nothing when no veto stood
    /// in the way of a relief, or the controller is in no manager's tree.
    @discardableResult
    public func attemptEviction() async -> EvictionReport {
        let cause = PressureCause(
            origin: .request,
            source: "attemptEviction",
            levelBefore: .normal,
            levelAfter: .normal
        )
        guard let context else { return EvictionReport(cause: cause) }
        let relief = SubtreeRelief(root: self, context: context)
        let report = try? await BlockingPool.shared.run {
            relief.run(goal: nil, isHeld: true, source: "attemptEviction")
        }
        guard let report, !report.evicted.isEmpty else { return report ?? EvictionReport(cause: cause) }
        context.events.deliver(.reliefFinished(report))
        return report
    }
}
