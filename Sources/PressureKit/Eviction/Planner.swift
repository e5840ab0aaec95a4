/// Chooses what leaves memory: the lowest ranks that cover the goal, in the order in which they are to go.
///
/// Pure, in place, and without a heap allocation: all it works on is passed in. Choosing is expected linear time
/// (quickselect over the ranks, weighted by bytes: Hoare's FIND, CACM 1961), and sorting is linear (``RankSort``), so a
/// plan over a million candidates costs less than sorting a million keys by comparing them, whatever the goal.
package enum Planner {
    /// The highest rank there is: ranks have 48 bits, so that with what is above them an order is one number.
    package static let highestRank: UInt64 = (1 << 48) - 1

    /// A candidate's rank and where it is in the array of candidates.
    package struct Choice: Comparable, Sendable {
        /// The policy's rank.
        package var rank: UInt64
        /// The candidate's index.
        package var index: UInt32

        /// Creates a choice.
        package init(rank: UInt64, index: UInt32) {
            self.rank = rank
            self.index = index
        }

        package static func < (left: Choice, right: Choice) -> Bool {
            left.rank != right.rank ? left.rank < right.rank : left.index < right.index
        }
    }

    /// What has been decided.
    package struct Plan: Sendable {
        /// How many choices are the victims.
        package var count = 0
        /// The candidate with the highest rank that the plan came to.
        package var last: Candidate?
        /// What is to be expected of it.
        package var prediction = PlanPrediction()
    }

    /// Chooses among `candidates`. On return the first ``Plan/count`` elements of `choices` are the victims, in order.
    ///
    /// - Parameters:
    ///   - candidates: all that could leave.
    ///   - choices: at least as long; its content on entry does not matter.
    ///   - goal: bytes to free; `nil` for all there are.
    ///   - policy: which go first.
    ///   - moment: when.
    package static func plan(
        _ candidates: UnsafeBufferPointer<Candidate>,
        choices: UnsafeMutableBufferPointer<Choice>,
        goal: Int?,
        policy: any EvictionPolicy,
        at moment: PlanMoment
    ) -> Plan {
        let all = unsafe UnsafeMutableBufferPointer(rebasing: choices[..<candidates.count])
        unsafe policy.rankAll(candidates, into: all, at: moment)
        var plan = Plan(count: all.count)
        if let goal, !policy.takesEverything {
            let (count, need) = unsafe select(all, candidates, goal: goal)
            plan.count = count
            // Before it is replaced: this is how far the policy's order was followed.
            if need > 0 { plan.last = unsafe candidates[Int(all[count - 1].index)] }
            if !moment.isSteady { unsafe replaceLast(all, candidates, chosen: count, need: need, moment) }
        }
        let victims = unsafe UnsafeMutableBufferPointer(rebasing: all[..<plan.count])
        unsafe describe(victims, candidates, moment, &plan)
        unsafe RankSort.sort(victims)
        return plan
    }

    /// The same for a reading of the ``UseClock`` with nothing else known; returns how many choices are the victims.
    package static func plan(
        _ candidates: UnsafeBufferPointer<Candidate>,
        choices: UnsafeMutableBufferPointer<Choice>,
        goal: Int?,
        policy: any EvictionPolicy,
        now: UInt32
    ) -> Int {
        unsafe plan(candidates, choices: choices, goal: goal, policy: policy, at: PlanMoment(now: now)).count
    }

    /// Predicts, notes the last victim, and puts in place of each victim's rank the order in which it is to go: what
    /// costs nothing first; then children before parents; then the policy's order.
    private static func describe(
        _ victims: UnsafeMutableBufferPointer<Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>,
        _ moment: PlanMoment,
        _ plan: inout Plan
    ) {
        var last: Choice?
        for index in 0..<victims.count {
            let choice = unsafe victims[index]
            // Choices name candidates.
            let victim = unsafe candidates[Int(choice.index)]
            // Not with `map`: its closure allocates in a debug build.
            if let known = last, choice < known {} else { last = choice }
            plan.prediction.add(victim, at: moment)
            let depth = 0x7FFF - UInt64(min(victim.depth, 0x7FFF))
            unsafe victims[index].rank = (victim.method.needsCopy ? 1 << 63 : 0) | depth << 48 | choice.rank
        }
        if let last, plan.last == nil { plan.last = unsafe candidates[Int(last.index)] }
    }

    // MARK: Choosing

    /// Brings the lowest ranks that together have `goal` bytes to the front, the highest of them last. Returns how many
    /// they are, and how many bytes the last one has to bring; 0 when all of them together are no more than the goal.
    static func select(
        _ choices: UnsafeMutableBufferPointer<Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>,
        goal: Int
    ) -> (count: Int, need: Int) {
        var low = 0
        var high = choices.count
        var missing = goal
        guard missing > 0 else { return (0, 0) }
        var total = 0
        for index in 0..<candidates.count { unsafe total += candidates[index].footprint }
        guard total > goal else { return (high, 0) }
        // Splitting needs three to four looks at each element on average. After ten, it is one of the rare orders that
        // mislead it: what is left is sorted.
        var patience = 10 * choices.count
        while high - low > 1 {
            patience -= high - low
            if patience < 0 {
                unsafe RankSort.sort(UnsafeMutableBufferPointer(rebasing: choices[low..<high]))
                return unsafe walk(choices, candidates, from: low, missing: missing)
            }
            let middle = unsafe partition(choices, low, high)
            // Looking a candidate's bytes up is what takes time, so that is done for the shorter part.
            let isLeftShorter = middle - low <= high - middle
            var part = 0
            for index in (isLeftShorter ? low : middle)..<(isLeftShorter ? middle : high) {
                unsafe part += candidates[Int(choices[index].index)].footprint
            }
            let left = isLeftShorter ? part : total - part
            if left >= missing {
                high = middle
                total = left
            } else {
                missing -= left
                low = middle
                total -= left
            }
        }
        return (high, missing)
    }

    /// Brings the `count` lowest ranks to the front.
    static func select(_ choices: UnsafeMutableBufferPointer<Choice>, lowest count: Int) {
        var low = 0
        var high = choices.count
        var patience = 10 * choices.count
        while high - low > 1, low < count {
            patience -= high - low
            guard patience >= 0 else {
                unsafe RankSort.sort(UnsafeMutableBufferPointer(rebasing: choices[low..<high]))
                return
            }
            let middle = unsafe partition(choices, low, high)
            if middle > count { high = middle } else { low = middle }
        }
    }

    /// The same as the first for what is sorted from `low` on.
    private static func walk(
        _ choices: UnsafeMutableBufferPointer<Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>,
        from low: Int,
        missing: Int
    ) -> (count: Int, need: Int) {
        var missing = missing
        var next = low
        while true {
            // All candidates together have more than is missing.
            let bytes = unsafe candidates[Int(choices[next].index)].footprint
            next += 1
            if bytes >= missing { return (next, missing) }
            missing -= bytes
        }
    }

    /// Splits `low..<high` so that every element before the result is less than every element from it on; both parts
    /// have at least one element.
    private static func partition(_ choices: UnsafeMutableBufferPointer<Choice>, _ low: Int, _ high: Int) -> Int {
        let pivot = unsafe median(choices[low], choices[low + (high - low) / 2], choices[high - 1])
        var left = low - 1
        var right = high
        while true {
            repeat { left += 1 } while unsafe choices[left] < pivot
            repeat { right -= 1 } while unsafe pivot < choices[right]
            guard left < right else { return max(low + 1, min(right + 1, high - 1)) }
            unsafe choices.swapAt(left, right)
        }
    }

    private static func median(_ a: Choice, _ b: Choice, _ c: Choice) -> Choice {
        if a < b { return b < c ? b : max(a, c) }
        return a < c ? a : max(b, c)
    }

    /// Puts in place of the last victim the smaller candidate of its class that is cheapest to lose and still covers the
    /// need, of equals the smallest, so that a small shortage does not cost a large value. None that is dearer.
    ///
    /// Not simply the smallest, which may be the one that is used most: where many small reclaims end with it, readers
    /// waited up to seven times as long in simulations.
    private static func replaceLast(
        _ choices: UnsafeMutableBufferPointer<Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>,
        chosen: Int,
        need: Int,
        _ moment: PlanMoment
    ) {
        guard chosen > 0, need > 0 else { return }
        let last = chosen - 1
        let victim = unsafe candidates[Int(choices[last].index)]
        guard victim.footprint > need else { return }
        var best = last
        var bestBytes = victim.footprint
        var bestCost = CostAware.expectedCost(victim, at: moment)
        for index in chosen..<choices.count {
            let candidate = unsafe candidates[Int(choices[index].index)]
            let fits = candidate.footprint >= need && candidate.footprint < victim.footprint
            guard fits, candidate.evictionClass == victim.evictionClass else { continue }
            let cost = CostAware.expectedCost(candidate, at: moment)
            guard cost < bestCost || (cost == bestCost && candidate.footprint < bestBytes) else { continue }
            best = index
            bestBytes = candidate.footprint
            bestCost = cost
        }
        if best != last { unsafe choices.swapAt(best, last) }
    }
}
