@testable import PressureKit

/// A keyed cache without a cache, in memory that is always full: words, records of uses, ghosts and plans are the
/// library's own. A plan lists what came since the one before and a quarter of the rest in turn, and takes a hundredth of
/// the memory.
struct SteadyCache {
    private let contest: Contest
    private let policy: any EvictionPolicy
    private var words: [ResidencyWord]
    private var arrivals: [UInt32]
    private var uses: [UseRecord]
    private var ghosts: [GhostList]
    private var shards: [[Int]]
    private var fresh: [Int] = []
    private var history = PlanHistory(start: 1)
    private var scale = UseScale(population: 0)
    private var seen = UseCounts()
    private var (now, turn, used, count): (UInt32, Int, Int, Int) = (1, 0, 0, 0)

    private static let shardCount = 32

    init(_ contest: Contest, policy: any EvictionPolicy) {
        self.contest = contest
        self.policy = policy
        let keys = contest.bytes.count
        words = Array(repeating: .unloaded, count: keys)
        arrivals = Array(repeating: 0, count: keys)
        uses = Array(repeating: .new, count: keys)
        ghosts = Array(repeating: GhostList(), count: Self.shardCount)
        shards = Array(repeating: [], count: Self.shardCount)
    }

    mutating func read(_ key: Int) -> Bool {
        if let pinned = words[key].pinning(stamp: now) {
            words[key] = ResidencyWord(rawValue: pinned.rawValue - 1)
            return true
        }
        while count > 0, used + contest.bytes[key] > contest.limit { plan() }
        bringIn(key)
        return false
    }

    private mutating func bringIn(_ key: Int) {
        now += 1
        let (hash, shard) = Self.place(key)
        let ghost = ghosts[shard].take(hash, now: scale.unit(now))
        uses[key] = (ghost?.uses ?? .new).arrived
        let word = ghost.map { ResidencyWord.dropped(at: $0.stamp) } ?? .unloaded
        guard let loaded = word.beginningLoad()?.finishingLoad(stamp: now) else { preconditionFailure("not away") }
        words[key] = ResidencyWord(rawValue: loaded.rawValue - 1)
        arrivals[key] = now
        used += contest.bytes[key]
        count += 1
        shards[shard].append(key)
        // As a shard has slots in blocks of 32.
        ghosts[shard].reserve((shards[shard].count + 31) & ~31)
        fresh.append(key)
    }

    private static func place(_ key: Int) -> (hash: UInt32, shard: Int) {
        var hash = UInt32(truncatingIfNeeded: key) &* 2_654_435_761
        hash ^= hash >> 15
        hash = hash &* 0x846C_A68B
        hash ^= hash >> 16
        return (hash, Int(hash >> 27))
    }

    private mutating func plan() {
        now += 1
        var moment = history.begin(at: now, count: count)
        moment.isSteady = true
        scale = moment.scale
        var listed = fresh.filter { words[$0].isResident }
        let isFresh = Set(listed)
        fresh = []
        for _ in 0..<(Self.shardCount / 4) {
            listed += shards[turn].filter { !isFresh.contains($0) }
            turn = (turn + 1) % Self.shardCount
        }
        let candidates = listed.map { candidate($0, moment) }
        history.learn(seen, at: now)
        seen.clear()
        var choices = listed.map { _ in Planner.Choice(rank: 0, index: 0) }
        let plan = unsafe candidates.withUnsafeBufferPointer { candidates in
            unsafe choices.withUnsafeMutableBufferPointer { choices in
                let goal = contest.limit / 100
                return unsafe Planner.plan(candidates, choices: choices, goal: goal, policy: policy, at: moment)
            }
        }
        for choice in choices.prefix(plan.count) { evict(listed[Int(choice.index)]) }
        if let last = plan.last { history.note(hand: policy.hand(afterTaking: last, at: moment), seen: count) }
    }

    private mutating func candidate(_ key: Int, _ moment: PlanMoment) -> Candidate {
        let word = words[key]
        let found = uses[key].look(stamp: word.stamp, arrival: arrivals[key], hits: word.hits, moment.scale)
        if let found { seen.note(found, moment.scale) }
        words[key] = word.forgettingHits()
        return Candidate(
            footprint: contest.bytes[key],
            stamp: word.stamp,
            method: .drop,
            isVisible: false,
            depth: 1,
            arrival: arrivals[key],
            hits: word.hits,
            hasRefaulted: word.isMarkedEvicted,
            level: uses[key].level,
            restoreCost: Float(contest.costs[key]),
            reloadCost: Float(contest.costs[key])
        )
    }

    private mutating func evict(_ key: Int) {
        guard words[key].beginningRelease(dropping: true)?.finishingRelease(stamp: now) != nil else {
            preconditionFailure("evicted a value that was not in memory")
        }
        words[key] = .unloaded
        used -= contest.bytes[key]
        count -= 1
        let (hash, shard) = Self.place(key)
        shards[shard].removeAll { $0 == key }
        if let lost = ghosts[shard].note(hash, at: now, uses[key], now: scale.unit(now)) {
            seen.ends.add(1, level: lost.uses.level, age: lost.uses.age(at: now, scale), scale)
        }
    }
}
