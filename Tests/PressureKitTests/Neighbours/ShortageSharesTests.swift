import PressureKitTestSupport
import Testing

@testable import PressureSignals

@Suite struct ShortageSharesTests {
    typealias Member = ShortageShares.Member

    private func parts(of need: Int, _ members: [Member], _ kind: ShortageShares.Kind = .all) -> [Int] {
        let shares = ShortageShares(of: need, among: members.span, kind)
        return members.map(shares.part)
    }

    @Test(arguments: [2, 4, 8]) func equalProcessesFreeEqualPartsAndTogetherWhatIsNeeded(count: Int) {
        let members = Array(repeating: Member(held: 100 << 20, free: 100 << 20), count: count)
        let parts = parts(of: 64 << 20, members)
        #expect(Set(parts).count == 1)
        #expect(parts.reduce(0, +) - 64 << 20 < count)
    }

    @Test func inAShortageWhatGoesAtOnceGoesFirst() {
        let members = [Member(held: 500, free: 0, dirty: 500), Member(held: 500, free: 500)]
        #expect(parts(of: 100, members) == [50, 50])
        #expect(parts(of: 100, members, .soon) == [0, 100])
        #expect(parts(of: 600, members, .soon) == [300, 300], "if that is enough")
    }

    /// Whoever has given what was beyond his budget is asked for nothing, while the others still have not.
    @Test func nobodyGivesForOthersWhoAreLate() {
        var members = Array(repeating: Member(held: 1000, free: 1000), count: 4)
        let need = 400
        let first = parts(of: need, members)[0]
        members[0].held -= first
        members[0].free -= first
        #expect(parts(of: need - first, members) == [0, 100, 100, 100])
    }

    /// What some leave of their part of the room is the others', and nobody's part changes while they give.
    @Test func theDivisionIsTheSameWhileTheyGive() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            var members = (0..<5).map { _ in
                let held = Int.random(in: 0...1_000_000, using: &generator)
                return Member(held: held, free: held, claim: Double.random(in: 0.1...10, using: &generator))
            }
            var need = Int.random(in: 1...max(1, members.reduce(0) { $0 + $1.held }), using: &generator)
            let before = parts(of: need, members)
            for index in members.indices.shuffled(using: &generator).prefix(3) {
                members[index].held -= before[index]
                members[index].free -= before[index]
                need -= before[index]
            }
            guard need > 0 else { continue }
            for (index, part) in parts(of: need, members).enumerated() {
                #expect(part <= 1 || abs(part - before[index]) <= 6)
            }
        }
    }

    @Test func claimsDivideTheRoomThatStays() {
        let members = [Member(held: 600, free: 600, claim: 3), Member(held: 600, free: 600, claim: 1)]
        let shares = ShortageShares(of: 400, among: members.span)
        #expect(abs(shares.budget(members[0]) - 600) <= 1)
        #expect(abs(shares.budget(members[1]) - 200) <= 1)
        #expect(abs(parts(of: 400, members)[1] - 400) <= 1)
    }

    @Test func aFloorIsLeftWhileOthersHaveMoreThanTheirs() {
        let members = [Member(held: 300, free: 300, claim: 1e-3, floor: 200), Member(held: 900, free: 900)]
        #expect(parts(of: 300, members)[0] <= 100)
        #expect(parts(of: 1200, members) == [300, 900], "and is taken in need")
    }

    @Test func whoCannotGiveIsMadeUpForByOthers() {
        let parts = parts(of: 400, [Member(held: 500, free: 0), Member(held: 500, free: 500)])
        #expect(parts == [0, 400])
    }

    /// Whatever the numbers: parts are within what there is, and together what is needed, or all.
    @Test func anyDivisionComesToWhatIsNeeded() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let members = (0..<Int.random(in: 2...9, using: &generator)).map { _ in
                let held = Int.random(in: 0...1_000_000, using: &generator)
                let free = Int.random(in: 0...held, using: &generator)
                return Member(
                    held: held,
                    free: free,
                    dirty: Int.random(in: 0...held - free, using: &generator),
                    claim: Double.random(in: MemoryClaim.bounds, using: &generator),
                    floor: Int.random(in: 0...1_000_000, using: &generator)
                )
            }
            let all = members.reduce(0) { $0 + $1.free + $1.dirty }
            let need = Int.random(in: 1...max(1, all * 3 / 2), using: &generator)
            for kind in [ShortageShares.Kind.all, .soon] {
                let parts = parts(of: need, members, kind)
                for (part, member) in zip(parts, members) { #expect(part >= 0 && part <= member.free + member.dirty) }
                let sum = parts.reduce(0, +)
                #expect(sum >= min(need, all))
                #expect(sum <= min(need, all) + members.count)
            }
        }
    }
}

@Suite struct MemoryClaimTests {
    @Test func whoWaitsMoreForAByteGetsMore() {
        #expect(MemoryClaim.moved(1, own: 3, mean: 1, in: 1) > 1)
        #expect(MemoryClaim.moved(1, own: 1, mean: 3, in: 1) < 1)
        #expect(MemoryClaim.moved(1, own: 2, mean: 2, in: 1) == 1)
        #expect(MemoryClaim.moved(1, own: 0, mean: 0, in: 1) == 1)
    }

    @Test func aClaimMovesByAFactorASecondAtMostAndStaysWithinBounds() {
        #expect(MemoryClaim.moved(1, own: 1e9, mean: 0, in: 3600) < 2.72)
        #expect(MemoryClaim.moved(1, own: 0, mean: 1e9, in: 3600) > 1 / 2.72)
        let bounds = MemoryClaim.bounds
        #expect(MemoryClaim.moved(bounds.upperBound, own: 1e9, mean: 0, in: 1) == bounds.upperBound)
        #expect(MemoryClaim.moved(bounds.lowerBound, own: 0, mean: 1, in: 1) == bounds.lowerBound)
    }

    /// Two readers of Zipf's law, one of whom loads ten times as dearly: claims come to rest where the next byte saves both
    /// about as much, and the sum of waiting is less than with equal halves.
    @Test func claimsComeToRestWhereTheSumOfWaitingIsLeast() {
        func waiting(_ cost: Double, _ bytes: Double) -> Double { cost * (1 - bytes).squared }
        var claims = [1.0, 1.0]
        let costs = [10.0, 1.0]
        for _ in 0..<300 {
            let held = claims.map { $0 / (claims[0] + claims[1]) }
            let waits = (0..<2).map { waiting(costs[$0], held[$0]) }
            let mean = waits[0] + waits[1]
            for index in 0..<2 {
                claims[index] = MemoryClaim.moved(claims[index], own: waits[index] / held[index], mean: mean, in: 0.1)
            }
        }
        let held = claims.map { $0 / (claims[0] + claims[1]) }
        #expect(held[0] > 0.6 && held[0] < 0.98)
        let sum = waiting(10, held[0]) + waiting(1, held[1])
        #expect(sum < waiting(10, 0.5) + waiting(1, 0.5))
    }
}

extension Double {
    fileprivate var squared: Double { self * self }
}
