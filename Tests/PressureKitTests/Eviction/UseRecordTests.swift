import PressureKitTestSupport
import Testing

@testable import PressureKit

/// What plans remember of a value's uses.
@Suite struct UseRecordTests {
    private let scale = UseScale(population: 3200)

    @Test func aValueThatWasNotUsedAgainWasUsedOnce() {
        var uses = UseRecord.new
        let none4 = uses.look(stamp: 500, arrival: 500, hits: 0, scale)
        #expect(none4 == nil)
        #expect(uses.level == 0)
        let none5 = uses.look(stamp: 500, arrival: 500, hits: 0, scale)
        #expect(none5 == nil)
        #expect(uses != .new)
    }

    @Test func hitsAndTheirSpanAreFound() throws {
        var uses = UseRecord.new
        let found1 = uses.look(stamp: 1400, arrival: 500, hits: 3, scale)
        let first = try #require(found1)
        #expect(first.count == 3 && first.level == 0 && first.span == 300)
        let level = uses.level
        #expect(level > 24, "four uses")
        let found2 = uses.look(stamp: 5240, arrival: 500, hits: 2, scale)
        let second = try #require(found2)
        #expect(second.count == 2 && second.level == level)
        // To a 32nd of the population.
        #expect(abs(second.span - 1920) <= 64)
    }

    /// Being dropped and loaded again is a use like one in memory.
    @Test func aReturnIsAUse() throws {
        var uses = UseRecord.new
        _ = uses.look(stamp: 64, arrival: 64, hits: 0, scale)
        uses = uses.arrived
        let found3 = uses.look(stamp: 6464, arrival: 6464, hits: 0, scale)
        let found = try #require(found3)
        #expect(found.count == 1 && found.span == 6400)
        let none6 = uses.look(stamp: 6464, arrival: 6464, hits: 0, scale)
        #expect(none6 == nil, "but once")
        #expect(UseRecord.new.arrived == .new)
    }

    /// Of what was long ago ever less is left.
    @Test func oldUsesFade() {
        var levels: [UInt8] = []
        for pause in [0, 3200, 12_800, 128_000] as [UInt32] {
            var uses = UseRecord.new
            for step in 1...20 as ClosedRange<UInt32> { _ = uses.look(stamp: step * 64, arrival: 1, hits: 3, scale) }
            _ = uses.look(stamp: 1280 + pause, arrival: 1, hits: 1, scale)
            levels.append(uses.level)
        }
        #expect(levels == levels.sorted(by: >) && Set(levels).count == 4)
        #expect(levels[3] <= 1)
    }

    /// Whatever the clock, the scale and the order of things: no trap, and what is found is sane.
    @Test(arguments: 0..<4) func anyReadingsAreSafe(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var uses = UseRecord.new
        for _ in 0..<5000 {
            let scale = UseScale(population: 1 << Int.random(in: 0...32, using: &random))
            if Bool.random(using: &random) { uses = uses.arrived }
            let (stamp, arrival) = (
                UInt32.random(in: 0 ... .max, using: &random), UInt32.random(in: 0 ... .max, using: &random)
            )
            let found = uses.look(stamp: stamp, arrival: arrival, hits: UInt8.random(in: 0...3, using: &random), scale)
            #expect(uses.level <= 126)
            if let found {
                #expect(found.count >= 1 && found.count <= 4 && found.span >= 0 && found.level <= 126)
                var counts = UseCounts()
                counts.note(found, scale)
            }
        }
    }

    @Test func unitsFollowThePopulationOnlyWhenTheyAreFarOff() {
        var scale = UseScale(population: 4096)
        let shift = scale.shift
        for count in [3000, 8191, 2048, 9000] {
            scale.follow(count)
            #expect(scale.shift == shift && scale.population == UInt32(count))
        }
        scale.follow(100_000)
        #expect(scale.shift == shift + 4)
        scale.follow(0)
        #expect(scale.population == UseScale.fewest)
    }
}

/// What is learned from uses.
@Suite struct ReuseTableTests {
    private let scale = UseScale(population: 1000)

    private func worth(_ table: ReuseTable, _ ages: [Float], level: UInt8 = 0) -> [Float] {
        ages.map { table.worth.value(level: level, age: $0, scale) }
    }

    private func learned(_ seen: (inout UseCounts) -> Void) -> ReuseTable {
        var table = ReuseTable.new
        for _ in 0..<20 {
            var counts = UseCounts()
            seen(&counts)
            table.learn(counts, turnovers: 1, scale)
        }
        return table
    }

    @Test func untaughtItIsLeastRecentlyUsedAndOftenBeforeOnce() {
        let ages: [Float] = [0, 10, 40, 100, 300, 1000, 3000, 10_000, 40_000]
        for level in [0, 8, 16, 100] as [UInt8] {
            let worth = worth(.new, ages, level: level)
            #expect(worth == worth.sorted(by: >), "level \(level): \(worth)")
        }
        for (once, again) in zip(worth(.new, ages), worth(.new, ages, level: 16)) { #expect(once < again) }
    }

    /// In a loop of three turnovers, what was used last is needed last.
    @Test func aLoopTurnsTheOrderRound() {
        let table = learned { $0.uses.add(300, level: 0, age: 3000, scale) }
        let worth = worth(table, [10, 300, 1000, 2000, 2900])
        #expect(worth == worth.sorted(), "\(worth)")
    }

    /// Where uses follow each other closely or not at all, what is old is worth nothing.
    @Test func aHotSetThatMovesLeavesTheOldBehind() {
        let table = learned { counts in
            for age in stride(from: Float(20), to: 400, by: 20) { counts.uses.add(20, level: 0, age: age, scale) }
            counts.ends.add(100, level: 0, age: 2000, scale)
        }
        let worth = worth(table, [200, 600, 1500])
        #expect(worth == worth.sorted(by: >), "\(worth)")
        #expect(worth[0] > 5 * worth[2])
    }

    /// After scans, what was used once is worth little, and what was used more often much.
    @Test func onceIsNotTwice() {
        let table = learned { counts in
            counts.ends.add(300, level: 0, age: 1500, scale)
            counts.uses.add(10, level: 0, age: 500, scale)
            counts.uses.add(300, level: 32, age: 500, scale)
        }
        #expect(worth(table, [100], level: 32)[0] > 5 * worth(table, [100], level: 0)[0])
    }

    /// What was true once is forgotten.
    @Test func whatWasLearnedFades() {
        var table = learned { $0.uses.add(300, level: 0, age: 3000, scale) }
        #expect(worth(table, [10])[0] < worth(table, [2000])[0])
        table.learn(UseCounts(), turnovers: 200, scale)
        #expect(worth(table, [10])[0] > worth(table, [2000])[0])
    }

    @Test func classesOfAgeCoverAllAges() {
        var last: Float = -1
        for ticks in [0, 1, 20, 31, 32, 40, 47, 48, 64, 1000, 5000, 60_000, 1e6, 4e9] as [Float] {
            let position = UseTable.position(ofAge: ticks, scale)
            #expect(position >= last)
            last = position
            let age = min(Int(position), UseTable.ages - 1)
            #expect(UseTable.edge(age) <= ticks / 1000 * 1.000_1)
            if age < UseTable.ages - 1 { #expect(UseTable.edge(age + 1) >= ticks / 1000 * 0.999_9) }
        }
    }
}
