/// Chooses what leaves memory: the lowest ranks that cover the goal, in the order in which they are to go.
///
/// Pure, in place, and without a heap allocation: all it works on is passed in. Choosing is expected linear time
/// (quickselect over the ranks, weighted by bytes: Hoare's FIND, CACM 1961), so a plan over a million candidates costs
/// less than sorting them; only the chosen are sorted.
package enum Planner {
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

    /// Chooses among `candidates`. On return the first `n` elements of `choices` are the victims, in order, where `n`
    /// is the result.
    ///
    /// - Parameters:
    ///   - candidates: all that could leave.
    ///   - choices: at least as long; its content on entry does not matter.
    ///   - goal: bytes to free; `nil` for all there are.
    ///   - policy: which go first.
    ///   - now: the reading of the ``UseClock``.
    package static func plan(
        _ candidates: UnsafeBufferPointer<Candidate>,
        choices: UnsafeMutableBufferPointer<Choice>,
        goal: Int?,
        policy: any EvictionPolicy,
        now: UInt32
    ) -> Int {
        let all = unsafe UnsafeMutableBufferPointer(rebasing: choices[..<candidates.count])
        for index in all.indices {
            let rank = unsafe policy.rank(candidates[index], now: now)
            unsafe all[index] = Choice(rank: rank, index: UInt32(index))
        }
        var chosen = all.count
        if let goal {
            chosen = unsafe select(all, candidates, goal: goal)
            unsafe shrinkLast(all, candidates, chosen: chosen, goal: goal)
        }
        let victims = unsafe UnsafeMutableBufferPointer(rebasing: all[..<chosen])
        unsafe sort(victims) { left, right in
            let (a, b) = unsafe (candidates[Int(left.index)], candidates[Int(right.index)])
            // What costs nothing first; then children before parents; then the policy's order.
            if (a.way == .spill) != (b.way == .spill) { return a.way != .spill }
            if a.depth != b.depth { return a.depth > b.depth }
            return left < right
        }
        return chosen
    }

    // MARK: Choosing

    /// Brings the lowest ranks that together have `goal` bytes to the front; returns how many they are.
    private static func select(
        _ choices: UnsafeMutableBufferPointer<Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>,
        goal: Int
    ) -> Int {
        var low = 0
        var high = choices.count
        var missing = goal
        guard missing > 0 else { return 0 }
        while high - low > 1 {
            let middle = unsafe partition(choices, low, high)
            var left = 0
            for index in low..<middle { unsafe left += candidates[Int(choices[index].index)].footprint }
            if left >= missing {
                high = middle
            } else {
                missing -= left
                low = middle
            }
        }
        return high
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

    /// Puts in place of the last victim the smallest candidate of its class that still covers the need, so that a small
    /// shortage does not cost a large value.
    private static func shrinkLast(
        _ choices: UnsafeMutableBufferPointer<Choice>,
        _ candidates: UnsafeBufferPointer<Candidate>,
        chosen: Int,
        goal: Int
    ) {
        guard chosen > 0 else { return }
        var total = 0
        var last = 0
        for index in 0..<chosen {
            unsafe total += candidates[Int(choices[index].index)].footprint
            if unsafe choices[last] < choices[index] { last = index }
        }
        let victim = unsafe candidates[Int(choices[last].index)]
        let need = goal - (total - victim.footprint)
        guard need > 0, victim.footprint > need else { return }
        var best = last
        var bestBytes = victim.footprint
        for index in chosen..<choices.count {
            let candidate = unsafe candidates[Int(choices[index].index)]
            guard candidate.evictionClass == victim.evictionClass, candidate.footprint >= need else { continue }
            if candidate.footprint < bestBytes {
                best = index
                bestBytes = candidate.footprint
            }
        }
        if best != last { unsafe choices.swapAt(best, last) }
    }

    // MARK: Sorting

    /// Heapsort: in place, no recursion, no allocation, and never worse than n log n.
    private static func sort(
        _ choices: UnsafeMutableBufferPointer<Choice>,
        by precedes: (Choice, Choice) -> Bool
    ) {
        let count = choices.count
        func sift(from start: Int, end: Int) {
            var root = start
            while true {
                var child = 2 * root + 1
                guard child < end else { return }
                if child + 1 < end, unsafe precedes(choices[child], choices[child + 1]) { child += 1 }
                guard unsafe precedes(choices[root], choices[child]) else { return }
                unsafe choices.swapAt(root, child)
                root = child
            }
        }
        for start in stride(from: count / 2 - 1, through: 0, by: -1) { sift(from: start, end: count) }
        for end in stride(from: count - 1, to: 0, by: -1) {
            unsafe choices.swapAt(0, end)
            sift(from: 0, end: end)
        }
    }
}
