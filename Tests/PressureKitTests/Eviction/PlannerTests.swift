import PressureKitTestSupport
import Testing

@testable import PressureKit

/// The planner against a naive sort.
@Suite struct PlannerTests {
    /// The victims' indices, in order.
    private func plan(_ candidates: [Candidate], goal: Int?, now: UInt32 = 1000) -> [Int] {
        var choices = [Planner.Choice](repeating: .init(rank: 0, index: 0), count: candidates.count)
        return unsafe candidates.withUnsafeBufferPointer { candidates in
            unsafe choices.withUnsafeMutableBufferPointer { choices in
                let count = unsafe Planner.plan(
                    candidates,
                    choices: choices,
                    goal: goal,
                    policy: LeastRecentlyUsed(),
                    now: now
                )
                return unsafe choices[..<count].map { Int($0.index) }
            }
        }
    }

    /// The same by sorting everything: the lowest ranks until the goal is covered, then the smallest sufficient one of
    /// its class in place of the last.
    private func bytesWanted(_ candidates: [Candidate], goal: Int, now: UInt32) -> (
        kept: Set<Int>, last: Int?, lastBytes: Int
    ) {
        let ranks = candidates.map { LeastRecentlyUsed().rank($0, now: now) }
        let order = candidates.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }
        var victims: [Int] = []
        var sum = 0
        for index in order where sum < goal {
            victims.append(index)
            sum += candidates[index].footprint
        }
        guard let last = victims.last else { return ([], nil, 0) }
        let need = goal - (sum - candidates[last].footprint)
        let rest = order.drop { $0 != last }
        let fitting = rest.filter {
            candidates[$0].evictionClass == candidates[last].evictionClass && candidates[$0].footprint >= need
        }
        return (
            Set(victims.dropLast()), last, fitting.map { candidates[$0].footprint }.min() ?? candidates[last].footprint
        )
    }

    private func randomCandidates(_ generator: inout SeededGenerator) -> [Candidate] {
        let isUniform = Bool.random(using: &generator)
        return (0..<Int.random(in: 0...60, using: &generator)).map { _ in
            Candidate(
                footprint: isUniform ? 100 : Int.random(in: 1...1000, using: &generator),
                // Few stamps, so that many ranks are equal.
                stamp: isUniform ? 5 : UInt32.random(in: 980...1000, using: &generator),
                method: [.release, .drop, .spill].randomElement(using: &generator)!,
                isVisible: Bool.random(using: &generator),
                depth: UInt16.random(in: 0...3, using: &generator)
            )
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func choosesWhatASortWouldChoose(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let candidates = randomCandidates(&generator)
        let total = candidates.reduce(0) { $0 + $1.footprint }
        let goal = Int.random(in: 0...(total + 100), using: &generator)
        let victims = plan(candidates, goal: goal)
        let wanted = bytesWanted(candidates, goal: goal, now: 1000)

        #expect(Set(victims).count == victims.count, "one was chosen twice")
        let freed = victims.reduce(0) { $0 + candidates[$1].footprint }
        #expect(freed >= min(goal, total))
        let others = Set(victims).subtracting(wanted.kept)
        #expect(wanted.kept.isSubset(of: victims))
        #expect(others.count == (wanted.last == nil ? 0 : 1))
        for other in others {
            #expect(candidates[other].footprint == wanted.lastBytes)
            #expect(candidates[other].evictionClass == candidates[wanted.last!].evictionClass)
        }
        checkOrder(victims, candidates)
    }

    /// Free before to be written, then children before parents, then the policy's order.
    private func checkOrder(_ victims: [Int], _ candidates: [Candidate]) {
        for (first, second) in zip(victims, victims.dropFirst()) {
            let (a, b) = (candidates[first], candidates[second])
            let isInOrder: Bool
            if (a.method == .spill) != (b.method == .spill) {
                isInOrder = b.method == .spill
            } else if a.depth != b.depth {
                isInOrder = a.depth > b.depth
            } else {
                let (left, right) = (LeastRecentlyUsed().rank(a, now: 1000), LeastRecentlyUsed().rank(b, now: 1000))
                isInOrder = (left, first) < (right, second)
            }
            #expect(isInOrder, "\(a) before \(b)")
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func withoutAGoalEverythingGoesInOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let candidates = randomCandidates(&generator)
        let victims = plan(candidates, goal: nil)
        #expect(Set(victims) == Set(candidates.indices))
        checkOrder(victims, candidates)
    }

    private func candidate(
        _ footprint: Int,
        stamp: UInt32 = 1,
        _ method: Candidate.Method = .spill,
        isVisible: Bool = false,
        depth: UInt16 = 0
    ) -> Candidate {
        Candidate(footprint: footprint, stamp: stamp, method: method, isVisible: isVisible, depth: depth)
    }

    @Test(arguments: [
        (nil as Int?, [0]), (0, []), (-5, []), (1, [0]), (100, [0]), (101, [0]), (Int.max, [0]),
    ])
    func aSingleCandidate(goal: Int?, victims: [Int]) {
        #expect(plan([candidate(100)], goal: goal) == victims)
        #expect(plan([], goal: goal) == [])
    }

    @Test func aSmallShortageDoesNotCostALargeValue() {
        // By age alone the 1000 bytes would go.
        #expect(plan([candidate(1000, stamp: 1), candidate(60, stamp: 2), candidate(50, stamp: 3)], goal: 50) == [2])
        // What has to be written is no substitute for what is free.
        #expect(plan([candidate(1000, .release), candidate(50, .spill)], goal: 50) == [0])
        // Nor is what is visible for what is hidden.
        #expect(plan([candidate(1000), candidate(50, isVisible: true)], goal: 50) == [0])
    }

    @Test func theOrderOfTheClassesIsFreeBeforeWrittenAndHiddenBeforeVisible() {
        let candidates = [
            candidate(10, stamp: 1, .spill, isVisible: true), candidate(10, stamp: 1, .spill),
            candidate(10, stamp: 9, .drop, isVisible: true), candidate(10, stamp: 9, .release),
        ]
        for (goal, victims) in [(10, [3]), (20, [3, 2]), (30, [3, 2, 1]), (40, [3, 2, 1, 0])] {
            #expect(plan(candidates, goal: goal, now: 10) == victims)
        }
    }

    /// Ages are differences, so the wrap of the clock changes nothing.
    @Test(arguments: [UInt32(0), 1, 5, 1000, .max, .max - 3])
    func theStampMayWrap(now: UInt32) {
        let candidates = (0..<8).map { candidate(10, stamp: now &- UInt32($0)) }
        #expect(plan(candidates, goal: nil, now: now) == [7, 6, 5, 4, 3, 2, 1, 0])
        #expect(plan(candidates, goal: 25, now: now) == [7, 6, 5])
    }
}

@Suite struct CandidateWayTests {
    struct Row: Sendable {
        var isReloadable = true
        var load: Duration? = .milliseconds(5)
        var restore: Duration? = .milliseconds(10)
        var bytes = 1000
        var canSpill = true
        var method: Candidate.Method
    }

    @Test(arguments: [
        // No loader makes it: written, whatever it costs, and whether or not the disk takes it now.
        Row(isReloadable: false, method: .spill), Row(isReloadable: false, canSpill: false, method: .spill),
        Row(isReloadable: false, load: .zero, method: .spill),
        // The disk takes nothing: dropped.
        Row(load: .seconds(60), canSpill: false, method: .drop), Row(load: nil, canSpill: false, method: .drop),
        // The cheaper of the two; loading if they are equal, since it needs no write.
        Row(method: .drop), Row(load: .milliseconds(10), method: .drop), Row(load: .milliseconds(11), method: .spill),
        // Never timed: written.
        Row(load: nil, method: .spill),
        // Restoring was never timed: 300 MB a second and 20 µs are assumed.
        Row(load: .milliseconds(99), restore: nil, bytes: 30_000_000, method: .drop),
        Row(load: .milliseconds(101), restore: nil, bytes: 30_000_000, method: .spill),
        Row(load: .microseconds(19), restore: nil, bytes: 0, method: .drop),
        Row(load: .microseconds(21), restore: nil, bytes: 0, method: .spill),
    ])
    func aDirtyValueGoesTheCheaperWay(_ row: Row) {
        let method = Candidate.Method.forDirty(
            isReloadable: row.isReloadable,
            loadTime: row.load,
            restoreTime: row.restore,
            byteCount: row.bytes,
            canSpill: row.canSpill
        )
        #expect(method == row.method, "\(row)")
    }

    /// The less one return saves, the fewer values are written; a few are where nobody knows what a restore takes.
    @Test(
        arguments: [
            (10, false, 0.0), (11, false, 0), (12, false, 0.1), (15, false, 0.25), (30, false, 1), (60, false, 1),
            (5, true, 0.005), (11, true, 0.011), (15, true, 0.25), (60, true, 1),
        ]
    )
    func aCopyHasToBeWorthItsWriting(load: Int, findsOut: Bool, part: Double) {
        let written = (0..<1000).count { number in
            let method = Candidate.Method.forDirty(
                isReloadable: true,
                loadTime: .milliseconds(load),
                restoreTime: .milliseconds(10),
                byteCount: 1000,
                canSpill: true,
                writeTime: .milliseconds(20),
                findsOut: findsOut,
                draw: Double(number) / 1000
            )
            return method == .spill
        }
        #expect(Double(written) / 1000 == part)
    }
}
