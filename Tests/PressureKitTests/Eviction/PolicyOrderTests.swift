import PressureKit
import PressureKitTestSupport
import Testing

/// Each policy against a model of what it is said to do.
@Suite struct PolicyOrderTests {
    private static func value(
        bytes: Int = 65_536,
        stamp: UInt32 = 100,
        arrival: UInt32 = 100,
        hits: UInt8 = 0,
        cost: Float = 1e6,
        method: Candidate.Method = .release,
        isVisible: Bool = false,
        refaulted: Bool = false,
        level: UInt8 = 0,
        writeCost: Float = 0
    ) -> Candidate {
        Candidate(
            footprint: bytes,
            stamp: stamp,
            method: method,
            isVisible: isVisible,
            depth: 1,
            arrival: arrival,
            hits: hits,
            hasRefaulted: refaulted,
            level: level,
            restoreCost: cost,
            writeCost: writeCost
        )
    }

    private static func plan(
        _ candidates: [Candidate],
        goal: Int?,
        _ policy: any EvictionPolicy,
        at moment: PlanMoment = PlanMoment(now: 1000, horizon: 100)
    ) -> (victims: [Int], plan: Planner.Plan) {
        var choices = candidates.map { _ in Planner.Choice(rank: 0, index: 0) }
        let plan = unsafe candidates.withUnsafeBufferPointer { candidates in
            unsafe choices.withUnsafeMutableBufferPointer { choices in
                unsafe Planner.plan(candidates, choices: choices, goal: goal, policy: policy, at: moment)
            }
        }
        return (choices.prefix(plan.count).map { Int($0.index) }, plan)
    }

    private static func order(_ candidates: [Candidate], _ policy: any EvictionPolicy) -> [Int] {
        plan(candidates, goal: nil, policy).victims
    }

    // MARK: All of them

    @Test(arguments: [LeastRecentlyUsed(), Sieve(), LargestFirst(), CostAware()] as [any EvictionPolicy])
    func classesComeFirst(_ policy: any EvictionPolicy) {
        // In every other respect the later classes are the better victims.
        let candidates = [
            Self.value(bytes: 4096 << 9, stamp: 1, cost: 1, method: .spill, isVisible: true),
            Self.value(bytes: 4096 << 6, stamp: 10, cost: 10, method: .spill),
            Self.value(bytes: 4096 << 3, stamp: 100, cost: 100, isVisible: true),
            Self.value(bytes: 4096, stamp: 999, hits: 7, cost: 1e9, refaulted: true),
        ]
        #expect(Self.order(candidates, policy) == [3, 2, 1, 0])
    }

    @Test(arguments: everyPolicy)
    func ranksFitTheirBits(_ policy: any EvictionPolicy) {
        for bytes in [0, 1, Int.max] {
            for stamp in [0, 1000, UInt32.max] {
                for cost in [0, Float.greatestFiniteMagnitude, .infinity] {
                    let value = Self.value(
                        bytes: bytes,
                        stamp: stamp,
                        hits: 7,
                        cost: cost,
                        method: .spill,
                        isVisible: true
                    )
                    #expect(policy.rank(value, at: PlanMoment(now: 1000)) <= Planner.highestRank)
                }
            }
        }
    }

    // MARK: Ours

    /// With nothing else to tell values apart, ours is least recently used.
    @Test func withEqualCostsItIsLeastRecentlyUsed() {
        var random = SeededGenerator(seed: 3)
        let candidates = (0..<500).map { _ in Self.value(stamp: UInt32.random(in: 0..<1000, using: &random)) }
        #expect(Self.order(candidates, CostAware()) == Self.order(candidates, LeastRecentlyUsed()))
    }

    @Test(
        arguments: [
            ("cheap to bring back", value(cost: 1e4), value(cost: 1e6)),
            ("large", value(bytes: 1 << 20), value(bytes: 1 << 16)),
            ("long unused", value(stamp: 100), value(stamp: 900)),
            ("used once", value(level: 0), value(level: 16)),
            ("cheap to write", value(method: .spill, writeCost: 1e4), value(method: .spill, writeCost: 1e6)),
        ]
    )
    func whatIsCheaperToLoseGoesFirst(_ what: String, _ first: Candidate, _ second: Candidate) {
        #expect(Self.order([second, first], CostAware()) == [1, 0])
        #expect(Self.order([first, second], CostAware()) == [0, 1])
    }

    @Test func costsThatDifferByNoiseAreEqual() {
        let candidates = [Self.value(stamp: 500, cost: 1.000e6), Self.value(stamp: 499, cost: 1.001e6)]
        #expect(Self.order(candidates, CostAware()) == [1, 0])
    }

    @Test func probabilitiesAreProbabilities() {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<1000 {
            let now = UInt32.random(in: 0...UInt32.max, using: &random)
            let moment = PlanMoment(now: now, horizon: UInt32.random(in: 0...UInt32.max, using: &random))
            let stamp = UInt32.random(in: 0...UInt32.max, using: &random)
            let once = CostAware.reuseProbability(Self.value(stamp: stamp), at: moment)
            let again = CostAware.reuseProbability(Self.value(stamp: stamp, hits: 1), at: moment)
            let refaulted = CostAware.reuseProbability(Self.value(stamp: stamp, refaulted: true), at: moment)
            #expect(0 <= once && once <= again && again <= 1)
            #expect(refaulted >= max(once, 0.5) && refaulted <= 1)
        }
    }

    /// The last victim: not the smallest, if that is the one that readers want, but the cheapest that covers the need.
    @Test func theLastVictimIsTheCheapestThatCoversTheNeed() {
        let candidates = [
            Self.value(bytes: 1 << 20, stamp: 1, cost: 5e6),
            Self.value(bytes: 8192, stamp: 999, hits: 7, cost: 9e6),  // small, but wanted all the time
            Self.value(bytes: 16_384, stamp: 50, cost: 9e4),
            Self.value(bytes: 4096, stamp: 2, cost: 1e3),  // too small
        ]
        #expect(Self.plan(candidates, goal: 8000, LeastRecentlyUsed()).victims == [2])
    }

    // MARK: The others

    /// The batch is what SIEVE's hand takes one by one from a queue, walked as the paper says, reclaim after reclaim.
    @Test(arguments: [1, 2, 3, 4, 5])
    func sieveTakesWhatTheHandTakes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = SieveModel()
        var hits: [UInt32: UInt8] = [:]
        var moment = PlanMoment(now: 1, horizon: 1)
        for _ in 0..<200 {
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                moment.now += 1
                model.insert(moment.now)
                hits[moment.now] = 0
            }
            for key in hits.keys.sorted() where Int.random(in: 0..<3, using: &random) == 0 {
                model.visit(key)
                hits[key] = 1
            }
            let keys = hits.keys.sorted()
            let candidates = keys.map { Self.value(bytes: 1, arrival: $0, hits: hits[$0]!) }
            let goal = Int.random(in: 0...min(keys.count, 8), using: &random)
            let (victims, plan) = Self.plan(candidates, goal: goal, Sieve(), at: moment)
            #expect(Set(victims.map { keys[$0] }) == model.evict(goal), "seed \(seed)")
            for victim in victims { hits[keys[victim]] = nil }
            guard let last = plan.last else { continue }
            for (key, candidate) in zip(keys, candidates) where hits[key] != nil {
                hits[key] = Sieve().hits(afterSparing: candidate, last: last, at: moment)
            }
            moment.hand = Sieve().hand(afterTaking: last, at: moment)
        }
    }

    /// `NSCache`'s list, as its source keeps it: sorted by cost, a new value before its equals.
    @Test func theOrderOfNSCacheIsThatOfItsList() {
        var random = SeededGenerator(seed: 21)
        var list: [(index: Int, cost: Int)] = []
        let candidates = (0..<300).map { index in
            let bytes = 4096 * Int.random(in: 1...20, using: &random)
            list.insert((index, bytes), at: list.firstIndex { $0.cost >= bytes } ?? list.endIndex)
            return Self.value(
                bytes: bytes,
                stamp: UInt32.random(in: 0..<1000, using: &random),
                arrival: UInt32(index),
                method: Bool.random(using: &random) ? .release : .drop
            )
        }
        #expect(Self.order(candidates, LowestCostFirst()) == list.map(\.index))
    }

    @Test func largestFirstIsLargestFirst() {
        let candidates = [3, 1, 4, 1, 5, 9, 2, 6].map { Self.value(bytes: $0 * 4096) }
        #expect(Self.order(candidates, LargestFirst()) == [5, 7, 4, 2, 0, 6, 1, 3])
    }

    @Test func purgingTakesEverythingWhateverWasAskedFor() {
        let candidates = (0..<10).map { _ in Self.value() }
        #expect(Self.plan(candidates, goal: 1, PurgeEverything()).victims.count == 10)
    }
}

/// SIEVE as published: a queue, a bit each, and a hand.
private struct SieveModel {
    /// The oldest first.
    private var queue: [(key: UInt32, isVisited: Bool)] = []
    private var hand = 0

    mutating func insert(_ key: UInt32) { queue.append((key, false)) }

    mutating func visit(_ key: UInt32) {
        guard let index = queue.firstIndex(where: { $0.key == key }) else { return }
        queue[index].isVisited = true
    }

    mutating func evict(_ count: Int) -> Set<UInt32> {
        var evicted: Set<UInt32> = []
        while evicted.count < count {
            if hand >= queue.count { hand = 0 }
            if queue[hand].isVisited {
                queue[hand].isVisited = false
                hand += 1
            } else {
                evicted.insert(queue.remove(at: hand).key)
            }
        }
        return evicted
    }
}
