#if Redis
import PressureKitTestSupport
import Testing

@testable import SpillStore

/// Which key holds what, and that nothing that arrives late can touch what is read.
@Suite struct RedisSegmentsTests {
    private let unit = ExtentAllocator.unitSize
    private let length = RedisSegments.segmentLength

    @Test func aRangeIsCutAtTheEndsOfSegments() {
        var segments = RedisSegments()
        let parts = segments.beginWrite(at: Int64(length - unit), count: length + 2 * unit)
        #expect(parts.map(\.range) == [0..<unit, unit..<unit + length, unit + length..<length + 2 * unit])
        #expect(parts.map(\.offset) == [length - unit, 0, 0])
        #expect(Set(parts.map(\.number)).count == 3)
        #expect(segments.parts(at: Int64(length - unit), count: length + 2 * unit) == parts)
        #expect(segments.count == 3 && segments.length == 3 * length)
    }

    @Test func aKeyGoesWithItsLastUnit() {
        var segments = RedisSegments()
        let number = segments.beginWrite(at: 0, count: 3 * unit)[0].number
        segments.giveBack(at: 0, count: Int64(unit))
        segments.giveBack(at: Int64(2 * unit), count: .max)
        #expect(segments.takeGarbage() == [])
        #expect(segments.parts(at: Int64(unit), count: unit).count == 1)
        #expect(segments.parts(at: 0, count: unit).isEmpty, "what was given back is not read")
        segments.giveBack(at: Int64(unit), count: Int64(unit))
        #expect(segments.takeGarbage() == [number] && segments.takeGarbage() == [])
        #expect(segments.numbers.isEmpty && segments.count == 0)
    }

    /// A key that was deleted may be deleted late.
    @Test func aNumberIsNeverUsedAgain() {
        var segments = RedisSegments()
        var seen: Set<UInt32> = []
        for _ in 0..<100 {
            #expect(seen.insert(segments.beginWrite(at: 0, count: unit)[0].number).inserted)
            segments.giveBack(at: 0, count: .max)
        }
    }

    /// The failed write may be carried out when its place is somebody else's.
    @Test func whatMayArriveLateArrivesWhereNobodyReads() {
        var segments = RedisSegments()
        let kept = segments.beginWrite(at: 0, count: unit)
        let failed = segments.beginWrite(at: Int64(unit), count: unit)
        #expect(kept[0].number == failed[0].number)
        segments.failWrite(failed, mayArrive: true)
        let next = segments.beginWrite(at: Int64(unit), count: unit)
        #expect(next[0].number != failed[0].number)
        #expect(segments.parts(at: 0, count: unit) == kept, "what was there is read where it is")
        #expect(segments.parts(at: Int64(unit), count: unit) == next)
        // A range over both was written by no one write.
        #expect(segments.parts(at: 0, count: 2 * unit).isEmpty)
        segments.giveBack(at: 0, count: Int64(unit))
        #expect(segments.takeGarbage() == kept.map(\.number))
    }

    @Test func aRefusedWriteLeavesTheKeyOpen() {
        var segments = RedisSegments()
        let kept = segments.beginWrite(at: 0, count: unit)
        segments.failWrite(segments.beginWrite(at: Int64(unit), count: unit), mayArrive: false)
        #expect(segments.beginWrite(at: Int64(2 * unit), count: unit)[0].number == kept[0].number)
        #expect(segments.parts(at: Int64(unit), count: unit).isEmpty)
    }

    /// Against a model that knows for each unit which write it belongs to.
    @Test(arguments: 0..<20) func everyUnitIsWhereItWasWrittenLast(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var segments = RedisSegments()
        let units = 3 * RedisSegments.unitsInSegment
        var owner = [UInt32?](repeating: nil, count: units)
        var closed: Set<UInt32> = []
        var deleted: Set<UInt32> = []
        for step in 0..<3000 {
            let start = Int.random(in: 0..<units, using: &random)
            let count = Int.random(in: 1...min(64, units - start), using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let parts = segments.beginWrite(at: Int64(start * unit), count: count * unit)
                #expect(parts.allSatisfy { !closed.contains($0.number) && !deleted.contains($0.number) })
                let fate = Int.random(in: 0..<10, using: &random)
                for part in parts {
                    let range = (start + part.range.lowerBound / unit)..<(start + part.range.upperBound / unit)
                    for unit in range { owner[unit] = fate < 2 ? nil : part.number }
                }
                if fate < 2 { segments.failWrite(parts, mayArrive: fate == 0) }
                if fate == 0 { closed.formUnion(parts.map(\.number)) }
            case 5..<8:
                segments.giveBack(at: Int64(start * unit), count: Int64(count * unit))
                for unit in start..<start + count { owner[unit] = nil }
            case 8:
                let isTail = Int.random(in: 0..<20, using: &random) == 0
                guard isTail else { continue }
                segments.giveBack(at: Int64(start * unit), count: .max)
                for unit in start..<units { owner[unit] = nil }
            default: deleted.formUnion(segments.takeGarbage())
            }
            let probe = Int.random(in: 0..<units, using: &random)
            #expect(
                segments.parts(at: Int64(probe * unit), count: unit).first?.number == owner[probe],
                "seed \(seed), step \(step), unit \(probe)"
            )
        }
        deleted.formUnion(segments.takeGarbage())
        #expect(Set(segments.numbers) == Set(owner.compactMap { $0 }), "seed \(seed)")
        #expect(deleted.isDisjoint(with: segments.numbers), "seed \(seed)")
        #expect(segments.count == segments.numbers.count)
    }
}
#endif
