import Glibc
import PressureSystem
import SpillStore

/// The memory a plan is made in, reserved while memory is plentiful: candidates, choices, and what became of each victim.
///
/// Bounded, however many values there are: when it is full, what ranks highest is left for a later round. So a reclaim
/// over a million values works in about 5 MB at most, which it has already touched, not in hundreds it would have to ask
/// for; below a small limit in less, see ``Reserves/plannedValues``.
///
/// Grows when caches are registered, never during a reclaim.
@safe
package final class PlanStorage: @unchecked Sendable {
    // Sendable and safe: whoever has taken it out of its Lock is the only one to touch it, and every buffer has the
    // number of elements that its capacity says.

    /// A value that could leave memory: where it is. Its entry is among `owners`.
    @unsafe struct Place {
        var entry: Unmanaged<CacheEntry>
        var slot: UnsafeMutableRawPointer
    }

    /// What happened to a victim.
    struct Outcome {
        /// Whether it is gone.
        var isGone = false
        /// The plain bytes a copy has to write.
        var plainBytes = 0
        var storedBytes = 0
        /// Chunks not written yet, while it is being copied.
        var chunksLeft = 0
        /// Whether its copy is worth compressing later.
        var isProvisional = false
        /// Whether it was left alone because another one had just failed.
        var isUntried = false
        /// Why it could not be copied.
        var failure: SpillFailure?
        var copyStart: MonotonicInstant?
        var copyTime = Duration.zero
    }

    /// The most candidates that are looked at together: 72 bytes each.
    package static let mostCandidates = 32 << 10
    /// The most values whose readers are counted together: a fence costs some microseconds, whatever it is for.
    static let mostSlots = 512
    /// The most victims of one round: 80 bytes each.
    package static let mostVictims = 32 << 10
    /// What a value takes that is a victim.
    static let bytesOfValue =
        MemoryLayout<Candidate>.stride + MemoryLayout<Planner.Choice>.stride + MemoryLayout<Outcome>.stride
        + MemoryLayout<UInt32>.stride + (unsafe MemoryLayout<Place>.stride)

    /// What copies are made for.
    var purpose = CodecChoice.Purpose.reclaim
    /// How many candidates it was made for.
    private let most: Int
    /// How many it may hold now.
    private var limit: Int
    private(set) var capacity = 0
    private var ownerCapacity = 0
    private(set) var candidates = unsafe UnsafeMutableBufferPointer<Candidate>(start: nil, count: 0)
    private(set) var places = unsafe UnsafeMutableBufferPointer<Place>(start: nil, count: 0)
    private(set) var choices = unsafe UnsafeMutableBufferPointer<Planner.Choice>(start: nil, count: 0)
    /// By victim: the `victim`th of the choices.
    private(set) var outcomes = unsafe UnsafeMutableBufferPointer<Outcome>(start: nil, count: 0)
    /// Victims whose copy is finished, in the order in which that happened.
    private(set) var finished = unsafe UnsafeMutableBufferPointer<UInt32>(start: nil, count: 0)
    /// Slots whose readers are being counted.
    private(set) var slots = unsafe UnsafeMutableBufferPointer<UnsafeMutableRawPointer>(start: nil, count: 0)
    /// A cache whose values are listed. Retained.
    @unsafe private struct Owner {
        var entry: Unmanaged<CacheEntry>
        var depth: UInt16
        var isVisible: Bool
    }

    /// Whose values this round lists.
    private var owners = unsafe UnsafeMutableBufferPointer<Owner>(start: nil, count: 0)
    private var ownerCount = 0
    /// Whether the one whose values are being listed has told of those that have ended.
    private var hasReportedEnds = false
    /// Of the thread that makes the plan, if others are to run first.
    private(set) var priority: ThreadPriority?

    /// What has happened, over all rounds.
    let tally = ReclaimTally()
    /// Which parts of the heap the present round empties, if it goes by that.
    let regions = HeapRegions()
    /// Whether candidates are to say where they lie.
    private(set) var isLocated = false

    /// How many candidates are listed.
    private(set) var candidateCount = 0
    /// How many of the choices are victims.
    private(set) var victimCount = 0
    /// Whether the others are in the order in which they go.
    private var isSorted = false
    /// How many values could leave memory, listed or not.
    private(set) var seenCount = 0
    /// Of these, how many are not of the sample.
    private var beyondSample = 0
    /// Their bytes.
    private(set) var seenBytes = 0
    /// The part of them that goes at once, in bytes.
    private(set) var seenFreeBytes = 0
    /// The part of them that cannot go without being written, in bytes.
    private(set) var seenBoundBytes = 0
    /// The bytes of values in memory that cannot leave now.
    private(set) var keptBytes = 0
    /// Which of the values are listed.
    private var sample = PlanSample.all
    /// How soon memory is wanted.
    private(set) var pace = PlanPace.reclaim
    /// Whether everything is to go.
    private var wantsAll = false
    /// What may be done with the compressed tier.
    private(set) var compression = CompressedTierUse.none
    /// Whether where values are spilled keeps them until they are given back.
    var keepsEverything = true
    /// Whether candidates that this round might have taken are not listed.
    private(set) var isTruncated = false
    /// How the present round ranks, and what it has to come to.
    ///
    /// Not a tuple of the three: the runtime makes the metadata of one when it is first destroyed, on the heap.
    private var policy: any EvictionPolicy = LeastRecentlyUsed()
    private var moment = PlanMoment(now: 0)
    /// What was seen of uses since it was taken last.
    private(set) var seen = UseCounts()
    private var goal: Int?

    /// Creates storage for nothing yet, that will never hold more than so many candidates.
    init(most: Int = PlanStorage.mostCandidates) {
        self.most = most
        limit = most
    }

    deinit {
        clear()
        deallocate()
    }

    /// For how many values it need not grow.
    var mostValues: Int { capacity < limit ? capacity : .max }

    /// The most victims of a round.
    var victimCapacity: Int { min(capacity, Self.mostVictims) }

    /// Makes room for plans over `values` values of `caches` caches, with some in hand, so that registering one at a time
    /// is cheap. Touches the memory: under pressure a fresh page is dear.
    func reserve(values: Int, caches: Int) {
        tally.reserve(caches: caches)
        if caches > ownerCapacity {
            unsafe owners.deallocate()
            ownerCapacity = max(64, 2 * caches)
            unsafe owners = .allocate(capacity: ownerCapacity)
        }
        guard values > capacity, capacity < limit else { return }
        resize(to: min(limit, max(128, 2 * values)))
    }

    /// Holds so many candidates at most from now on, and no more than it was made for. Gives back what it has beyond that; grows
    /// when it is asked to.
    func bound(to candidates: Int) {
        limit = min(candidates, most)
        if capacity > limit { resize(to: limit) }
    }

    private func resize(to count: Int) {
        precondition(candidateCount == 0, "plan storage was resized while a plan was in it")
        deallocateCandidates()
        capacity = count
        unsafe candidates = Self.touched(capacity)
        unsafe places = Self.touched(capacity)
        unsafe choices = Self.touched(capacity)
        unsafe outcomes = Self.touched(victimCapacity)
        unsafe finished = Self.touched(victimCapacity)
        unsafe slots = Self.touched(min(victimCapacity, Self.mostSlots))
        regions.reserve(capacity)
    }

    private static func touched<Element>(_ count: Int) -> UnsafeMutableBufferPointer<Element> {
        let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: count)
        // Its own memory, of trivial elements that are written before they are read.
        if let base = buffer.baseAddress { _ = unsafe memset(base, 0, count * MemoryLayout<Element>.stride) }
        return unsafe buffer
    }

    private func deallocateCandidates() {
        unsafe candidates.deallocate()
        unsafe places.deallocate()
        unsafe choices.deallocate()
        unsafe outcomes.deallocate()
        unsafe finished.deallocate()
        unsafe slots.deallocate()
    }

    private func deallocate() {
        deallocateCandidates()
        unsafe owners.deallocate()
    }

    // MARK: A round

    /// Whether a cache with `count` values need not list them now: everything is to go, so their turn comes whatever they
    /// are, and there is no room for them. They are left for the next round.
    func leaves(_ count: Int) -> Bool {
        guard goal == nil, wantsAll, candidateCount > 0, candidateCount + count > capacity else { return false }
        isTruncated = true
        return true
    }

    /// Begins a round that ranks by `policy`, towards a goal if it is known already.
    func begin(
        _ policy: any EvictionPolicy,
        at moment: PlanMoment,
        goal: Int?,
        wantsAll: Bool = false,
        compression: CompressedTierUse = .none,
        sample: PlanSample = .all,
        pace: PlanPace = .reclaim,
        priority: ThreadPriority? = nil,
        isLocated: Bool = false
    ) {
        self.priority = priority
        self.isLocated = isLocated
        regions.clear()
        self.sample = sample
        self.pace = pace
        self.compression = compression
        self.wantsAll = wantsAll
        clearCandidates()
        tally.clearSkips()
        self.policy = policy
        self.moment = moment
        self.goal = policy.takesEverything ? nil : goal
    }

    /// Whether a shard with a number is to be listed.
    func takes(shard number: Int) -> Bool { sample.takes(number) }

    /// Of other shards only what has come since this reading of the ``UseClock``; `nil` for nothing of them.
    var newest: UInt32? { sample.newest }

    /// So many were listed only because they are new.
    func noteBeyondSample(_ count: Int) { beyondSample += count }

    /// About how many values there are that could be seen.
    var population: Int { (seenCount - beyondSample) * sample.parts }

    /// Has a cache's values listed, if they are of the sample. Retains it until the round is over: it may leave the tree before.
    func add(_ entry: CacheEntry, isVisible: Bool, depth: UInt16) {
        // What there is no room for was registered a moment ago, and is left for the next reclaim.
        guard ownerCount < ownerCapacity else { return }
        unsafe owners[ownerCount] = Owner(entry: .passRetained(entry), depth: depth, isVisible: isVisible)
        ownerCount += 1
    }

    /// Lists the values of all caches that were added, but for those that a plan which is full can leave for the next round.
    /// Takes the locks of each cache in turn.
    func list(canSpill: Bool) {
        for index in 0..<ownerCount {
            let owner = unsafe owners[index]
            // Retained by `add`, here and below.
            if unsafe owner.entry._withUnsafeGuaranteedRef({ $0.hasOneValue }), !sample.takesNext() { continue }
            hasReportedEnds = false
            unsafe owner.entry._withUnsafeGuaranteedRef {
                unsafe $0.list(in: self, canSpill: canSpill, isVisible: owner.isVisible, depth: owner.depth)
            }
            if index % Self.ownersBetweenYields == 0 { priority?.yield() }
        }
    }

    /// Listing one takes some microseconds.
    private static let ownersBetweenYields = 32

    // MARK: By where values lie

    /// Keeps to the regions that are worth least and have so many bytes, of which a sample is listed, and lists what lies there.
    /// `false` if it is of no use: nothing has changed then but the order of the choices.
    func narrow(to bytes: Int, canSpill: Bool) -> Bool {
        var resident = 0
        for index in 0..<ownerCount {
            unsafe resident += owners[index].entry._withUnsafeGuaranteedRef { $0.residentByteCount }
        }
        let isChosen = unsafe regions.choose(
            among: UnsafeBufferPointer(rebasing: candidates[..<candidateCount]),
            choices: UnsafeMutableBufferPointer(rebasing: choices[..<candidateCount]),
            parts: sample.parts,
            resident: resident,
            // A sample tells of those that it has more of than they have.
            goal: bytes + bytes / 8,
            policy: policy,
            at: moment
        )
        guard isChosen else { return false }
        goal = bytes
        relist(.all, by: RegionOrder(), canSpill: canSpill)
        return true
    }

    /// Lists the values of the same caches once more: other ones, or in another order.
    func relist(_ sample: PlanSample, by policy: (any EvictionPolicy)? = nil, canSpill: Bool) {
        self.sample = sample
        self.policy = policy ?? self.policy
        (candidateCount, seenCount, beyondSample) = (0, 0, 0)
        isTruncated = false
        list(canSpill: canSpill)
    }

    /// Whether only what lies in some regions is listed.
    var isNarrowed: Bool { regions.count > 0 }

    /// Whether a candidate is to be listed: in a plan that keeps to some regions, if it lies in one of them and may leave. It is told
    /// when that one's turn is.
    func takes(_ candidate: inout Candidate) -> Bool {
        guard isNarrowed else { return true }
        guard candidate.evictionClass <= regions.lastClass, let turn = regions.turn(of: candidate.region) else {
            return false
        }
        candidate.region = turn
        return true
    }

    /// Looks at what is remembered of a value's uses, if the policy learns from that: whether it does.
    func look(_ uses: inout UseRecord, stamp: UInt32, arrival: UInt32, hits: UInt8) -> Bool {
        guard policy.learnsUses else { return false }
        if let found = uses.look(stamp: stamp, arrival: arrival, hits: hits, moment.scale) {
            seen.note(found, moment.scale)
        }
        return true
    }

    /// The same for a value that is not in memory: whether nobody waits for its return any longer.
    func lookAway(_ uses: inout UseRecord) -> Bool {
        guard policy.learnsUses, !uses.isNew else { return false }
        let age = uses.age(at: moment.now, moment.scale)
        guard age > Self.mostTurnovers * Float(moment.scale.population) else { return false }
        seen.ends.add(1, level: uses.level, age: age, moment.scale)
        uses = .new
        return true
    }

    /// For so long a value that has a copy only is waited for.
    private static let mostTurnovers: Float = 8

    /// What was seen has been learned.
    func forgetSeen() { seen.clear() }

    /// Lists a candidate.
    ///
    /// - Parameter isBound: whether it has to be written first, and could not be dropped in need.
    func append(_ candidate: Candidate, isBound: Bool = false, entry: CacheEntry, slot: UnsafeMutableRawPointer) {
        seenCount += 1
        seenBytes += candidate.footprint
        if !candidate.method.needsCopy { seenFreeBytes += candidate.footprint }
        if isBound { seenBoundBytes += candidate.footprint }
        guard capacity > 0 else { return }
        if !hasReportedEnds {
            hasReportedEnds = true
            if policy.learnsUses { entry.reportEnds(to: &seen.ends) }
        }
        if candidateCount == capacity { thin() }
        unsafe candidates[candidateCount] = candidate
        // Retained by `add`.
        unsafe places[candidateCount] = Place(entry: .passUnretained(entry), slot: slot)
        candidateCount += 1
    }

    /// Counts a value that was passed over.
    func skip(_ entry: CacheEntry, _ reason: EvictionReport.SkipReason, footprint: Int) {
        keptBytes += footprint
        tally.add(entry, .skipped(reason)) { $0.bytes += footprint }
    }

    /// Makes room: keeps those that come to the goal, if that is known and they are no more than half, else the half that
    /// goes first.
    private func thin() {
        // All listed, and as many choices.
        let listed = unsafe UnsafeBufferPointer(rebasing: candidates[..<candidateCount])
        let ranked = unsafe UnsafeMutableBufferPointer(rebasing: choices[..<candidateCount])
        unsafe policy.rankAll(listed, into: ranked, at: moment)
        var kept = candidateCount / 2
        let enough = goal.map { unsafe Planner.select(ranked, listed, goal: $0).count }
        if let enough, enough <= kept {
            kept = enough
        } else {
            unsafe Planner.select(ranked, lowest: kept)
            isTruncated = true
        }
        // The others are marked by a footprint that no candidate has, and the gaps closed.
        for index in kept..<candidateCount { unsafe candidates[Int(choices[index].index)].footprint = -1 }
        var end = 0
        for index in 0..<candidateCount where unsafe candidates[index].footprint >= 0 {
            unsafe candidates[end] = candidates[index]
            unsafe places[end] = places[index]
            end += 1
        }
        candidateCount = end
    }

    /// Takes the first `count` choices as the round's victims, or as many as there is room for. Returns how many.
    func beginVictims(_ count: Int) -> Int {
        let taken = min(count, victimCapacity)
        if taken < count { isTruncated = true }
        for victim in 0..<taken { unsafe outcomes[victim] = Outcome() }
        (victimCount, isSorted) = (taken, false)
        return taken
    }

    /// Makes a victim of the choice that goes next, if there is one, and room. Those that are none have to be sorted for it.
    func addVictim() -> Bool {
        guard victimCount < min(candidateCount, victimCapacity) else { return false }
        if !isSorted {
            isSorted = true
            unsafe RankSort.sort(UnsafeMutableBufferPointer(rebasing: choices[victimCount..<candidateCount]))
        }
        unsafe outcomes[victimCount] = Outcome()
        victimCount += 1
        return true
    }

    /// The index of a victim's candidate and place.
    func candidate(ofVictim victim: Int) -> Int { unsafe Int(choices[victim].index) }

    /// Where a victim is.
    func place(ofVictim victim: Int) -> Place { unsafe places[candidate(ofVictim: victim)] }

    /// Forgets the candidates.
    private func clearCandidates() {
        for index in 0..<ownerCount { unsafe owners[index].entry.release() }
        ownerCount = 0
        candidateCount = 0
        victimCount = 0
        seenCount = 0
        beyondSample = 0
        seenBytes = 0
        seenFreeBytes = 0
        seenBoundBytes = 0
        keptBytes = 0
        isTruncated = false
    }

    /// Forgets everything.
    func clear() {
        clearCandidates()
        tally.clear()
    }
}
