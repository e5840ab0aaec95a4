import PressureKitTestSupport
import Testing

@testable import PressureKit

@Suite struct ReclaimabilityTests {
    @Test func beforeThePlansAllOfItIs() {
        #expect(Reclaimability().bytes(of: 100 << 20) == 100 << 20)
        #expect(Reclaimability().bytes(of: -5) == 0)
    }

    @Test func whatIsPinnedIsNot() {
        var sum = Reclaimability()
        for _ in 0..<20 { sum.note(free: 30, dirty: 0, kept: 70) }
        #expect(abs(sum.bytes(of: 1000) - 300) <= 1)
        sum.note(free: 0, dirty: 0, kept: 0)
        #expect(abs(sum.bytes(of: 1000) - 300) <= 1, "an empty plan says nothing")
    }

    /// As much as the disk takes in a second.
    @Test func ofWhatIsDirtyWhatTheDiskTakesIs() {
        var sum = Reclaimability()
        for _ in 0..<40 {
            sum.note(free: 0, dirty: 100, kept: 0)
            sum.noteWriting(10_000_000, in: .seconds(1))
        }
        #expect(abs(sum.bytes(of: 1_000_000_000) - 10_000_000) < 100_000)
        #expect(abs(sum.bytes(of: 5_000_000) - 5_000_000) < 10)
    }
}

@Suite struct PlanSampleTests {
    @Test func fewValuesAreAllLookedAt() {
        for count in [0, 1, 511, 1023] { #expect(PlanSample(turn: 3, of: count).parts == 1) }
        #expect(PlanSample(turn: 0, of: 1 << 20).parts == PlanSample.mostParts)
    }

    /// Every shard, and every cache of one value, has its turn.
    @Test(arguments: [1, 2, 4, 8]) func theTurnsCoverEverythingOnce(parts: Int) {
        var (shards, singles) = ([Int](repeating: 0, count: 32), [Int](repeating: 0, count: 100))
        for turn in 0..<parts {
            var sample = PlanSample(turn: turn, parts: parts)
            for number in 0..<32 where sample.takes(number) { shards[number] += 1 }
            for number in 0..<100 where sample.takesNext() { singles[number] += 1 }
        }
        #expect(shards.allSatisfy { $0 == 1 })
        #expect(singles.allSatisfy { $0 == 1 })
    }
}
