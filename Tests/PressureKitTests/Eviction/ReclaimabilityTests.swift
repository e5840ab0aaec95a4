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
        for _ in 0..<20 { sum.note(free: 30, dirty: 0, kept: 70, bound: 0) }
        #expect(abs(sum.bytes(of: 1000) - 300) <= 1)
        sum.note(free: 0, dirty: 0, kept: 0, bound: 0)
        #expect(abs(sum.bytes(of: 1000) - 300) <= 1, "an empty plan says nothing")
    }

    /// As much as the disk takes in a second.
    @Test func ofWhatIsDirtyWhatTheDiskTakesIs() {
        var sum = Reclaimability()
        for _ in 0..<40 {
            sum.note(free: 0, dirty: 100, kept: 0, bound: 100)
            sum.noteWriting(10_000_000, in: .seconds(1))
        }
        #expect(abs(sum.bytes(of: 1_000_000_000) - 10_000_000) < 100_000)
        #expect(abs(sum.bytes(of: 5_000_000) - 5_000_000) < 10)
    }

    /// Room for pages under write-back is kept for values that cannot go otherwise: a loader's can, in need.
    @Test func onlyWhatCannotBeDroppedHasToBeWritten() {
        var sum = Reclaimability()
        #expect(sum.needsWriting, "nobody knows")
        for _ in 0..<8 { sum.note(free: 0, dirty: 100, kept: 0, bound: 0) }
        #expect(!sum.needsWriting)
        for _ in 0..<8 { sum.note(free: 40, dirty: 60, kept: 0, bound: 60) }
        #expect(sum.needsWriting)
    }
}

@Suite struct PlanSampleTests {
    @Test func fewValuesAreAllLookedAt() {
        for count in [0, 1, 511, 1023] { #expect(PlanSample(turn: 3, of: count).parts == 1) }
        #expect(PlanSample(turn: 0, of: 1 << 20).parts == PlanSample.mostParts)
    }

    /// What a sample of the cache would mostly miss, and an order that puts what is new to the test must see.
    @Test func whatIsNewIsInEverySample() throws {
        let manager = try makeManager()
        let cache = try manager.root.keyedCache("values") { (key: Int) in [UInt8](repeating: 1, count: 100) }
        for key in 0..<1_000 { try cache.loadIfNeeded(for: key) }
        let stamp = UseClock.now
        for key in 1_000..<1_020 { try cache.loadIfNeeded(for: key) }
        func listed(_ sample: PlanSample) -> Int {
            let storage = PlanStorage()
            storage.reserve(values: 2_000, caches: 4)
            storage.begin(LeastRecentlyUsed(), at: PlanMoment(now: UseClock.tick()), goal: nil, sample: sample)
            manager.root.collectOwners(in: storage)
            storage.list(canSpill: true)
            defer { storage.clear() }
            return (0..<storage.candidateCount).count { unsafe storage.candidates[$0].arrival &- stamp &- 1 < 1 << 20 }
        }
        #expect(listed(.all) == 20)
        for turn in 0..<4 { #expect(listed(PlanSample(turn: turn, parts: 4, since: stamp)) == 20) }
    }

    /// Every shard, and every cache of one value, has its turn.
    @Test(arguments: [1, 2, 4]) func theTurnsCoverEverythingOnce(parts: Int) {
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
