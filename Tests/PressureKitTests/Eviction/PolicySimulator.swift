import PressureKit

/// All orders: the library's and those that are only compared with.
let everyPolicy: [any EvictionPolicy] = EvictionOrder.allCases.map(\.policy) + [LowestCostFirst(), PurgeEverything()]

/// A cache under pressure, without a cache: values that have a size and a cost and nothing else, an access stream, and a
/// reclaim whenever memory is full. Counts how long readers would have waited. Pure, single-threaded, on a clock that
/// only moves with loads, like the real one.
struct PolicySimulator {
    /// A value that could be in memory.
    struct Thing {
        var bytes: Int
        /// Nanoseconds to bring it back once it was evicted.
        var cost: Float
        var isVisible = false
    }

    /// What came of a run.
    struct Outcome {
        var hits = 0
        /// Loads of what had never been in memory: the same for every policy.
        var firstLoads = 0
        var returns = 0
        var refaults = 0
        var reclaims = 0
        var freed = 0
        /// Nanoseconds that readers waited for what had been evicted.
        var stall: Double = 0
        /// What the plans had predicted of it.
        var predicted: Double = 0
    }

    private let things: [Thing]
    private let limit: Int
    private let batch: Int
    private let policy: any EvictionPolicy
    private var words: [ResidencyWord]
    private var arrivals: [UInt32]
    private var uses: [UseRecord]
    private var now: UInt32 = 1
    private var history = PlanHistory(start: 1)
    private var horizon: UInt32 = 1
    private var used = 0
    private(set) var outcome = Outcome()

    /// - Parameters:
    ///   - limit: the bytes of memory there are.
    ///   - batch: the bytes that each reclaim has to free.
    init(things: [Thing], limit: Int, batch: Int, policy: any EvictionPolicy) {
        self.things = things
        self.limit = limit
        self.batch = batch
        self.policy = policy
        words = Array(repeating: .unloaded, count: things.count)
        arrivals = Array(repeating: 0, count: things.count)
        uses = Array(repeating: .new, count: things.count)
    }

    /// Runs an access stream and returns what came of it.
    static func run(
        _ keys: [Int],
        of things: [Thing],
        limit: Int,
        batch: Int,
        policy: any EvictionPolicy
    ) -> Outcome {
        var simulator = PolicySimulator(things: things, limit: limit, batch: batch, policy: policy)
        for key in keys { simulator.access(key) }
        return simulator.outcome
    }

    private mutating func access(_ key: Int) {
        if let pinned = words[key].pinning(stamp: now) {
            outcome.hits += 1
            words[key] = unpinned(pinned)
            return
        }
        if used + things[key].bytes > limit { reclaim() }
        bringIn(key)
    }

    private mutating func bringIn(_ key: Int) {
        now += 1
        let wasEvicted = words[key].isMarkedEvicted
        guard let loading = words[key].beginningLoad(),
            let loaded = loading.finishingLoad(stamp: now, horizon: horizon)
        else { preconditionFailure("a value that is neither in memory nor out of it") }
        words[key] = unpinned(loaded)
        arrivals[key] = now
        uses[key] = uses[key].arrived
        used += things[key].bytes
        guard wasEvicted else {
            outcome.firstLoads += 1
            return
        }
        outcome.returns += 1
        if loaded.isMarkedEvicted { outcome.refaults += 1 }
        outcome.stall += Double(things[key].cost)
    }

    private func unpinned(_ word: ResidencyWord) -> ResidencyWord { ResidencyWord(rawValue: word.rawValue - 1) }

    private mutating func reclaim() {
        now += 1
        outcome.reclaims += 1
        let keys = words.indices.filter { words[$0].isResident }
        let moment = history.begin(at: now, count: keys.count)
        var seen = UseCounts()
        let candidates = keys.map { candidate($0, at: moment, &seen) }
        history.learn(seen, at: now)
        for key in words.indices where !words[key].isResident && moment.fades {
            words[key] = words[key].spared(hits: words[key].hits / 2)
        }
        horizon = moment.horizon
        var choices = keys.map { _ in Planner.Choice(rank: 0, index: 0) }
        let plan = unsafe candidates.withUnsafeBufferPointer { candidates in
            unsafe choices.withUnsafeMutableBufferPointer { choices in
                unsafe Planner.plan(candidates, choices: choices, goal: batch, policy: policy, at: moment)
            }
        }
        outcome.predicted += plan.prediction.futureCost
        for choice in choices.prefix(plan.count) { evict(keys[Int(choice.index)]) }
        guard let last = plan.last else { return }
        history.note(hand: policy.hand(afterTaking: last, at: moment))
        for (key, candidate) in zip(keys, candidates) where words[key].isResident {
            words[key] = words[key].spared(hits: policy.hits(afterSparing: candidate, last: last, at: moment))
        }
    }

    private mutating func candidate(_ key: Int, at moment: PlanMoment, _ seen: inout UseCounts) -> Candidate {
        let word = words[key]
        if policy.learnsUses {
            let found = uses[key].look(
                stamp: word.stamp,
                arrival: arrivals[key],
                hits: word.hits,
                moment.scale
            )
            if let found { seen.note(found, moment.scale) }
            words[key] = word.forgettingHits()
        }
        return Candidate(
            footprint: things[key].bytes,
            stamp: word.stamp,
            method: .drop,
            isVisible: things[key].isVisible,
            depth: 1,
            arrival: arrivals[key],
            hits: word.hits,
            hasRefaulted: word.isMarkedEvicted,
            level: uses[key].level,
            restoreCost: things[key].cost,
            reloadCost: things[key].cost
        )
    }

    private mutating func evict(_ key: Int) {
        guard let left = words[key].beginningRelease(dropping: true)?.finishingRelease(stamp: now) else {
            preconditionFailure("evicted a value that was not in memory")
        }
        words[key] = left
        used -= things[key].bytes
        outcome.freed += things[key].bytes
    }
}
