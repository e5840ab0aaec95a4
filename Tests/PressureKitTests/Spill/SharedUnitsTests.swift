import PressureKitTestSupport
import Testing

@testable import PressureKit
@testable import SpillStore

@Suite struct SharedUnitsTests {
    /// Units come and go, in clusters as batches bring them; a dictionary knows how many frames each has.
    @Test(arguments: UInt64(1)...8) func aRandomWalkAgreesWithADictionary(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var table = SharedUnits(size: 64)
        var model: [UInt32: Int] = [:]
        for step in 0..<6000 {
            let start = UInt32.random(in: 0..<1000, using: &random) &* 1_000_003
            let units = (0..<Int.random(in: 1...6, using: &random)).map { start &+ UInt32($0) }
            if Bool.random(using: &random), units.allSatisfy({ model[$0] == nil }) {
                let isPromised = table.promise(units.count)
                #expect(isPromised == (model.count + units.count <= 48), "seed \(seed) step \(step)")
                guard isPromised else { continue }
                for unit in units {
                    let frames = Int.random(in: 1...9, using: &random)
                    table.insert(unit, frames: frames)
                    model[unit] = frames
                }
                table.settle(units.count)
            } else if let unit = model.keys.sorted().randomElement(using: &random) {
                for left in (0..<model[unit]!).reversed() {
                    let isLast = table.removeFrame(of: unit)
                    try #require(isLast == (left == 0), "seed \(seed) step \(step)")
                }
                model[unit] = nil
            }
            try #require(table.count == model.count, "seed \(seed) step \(step)")
        }
    }

    @Test func whatIsPromisedIsKeptAndComesBack() {
        var table = SharedUnits(size: 64)
        let promises = (0..<4).map { _ in table.promise(16) }
        #expect(promises == [true, true, true, false])
        table.settle(16)
        let again = table.promise(16)
        #expect(again)
    }

    @Test func aUnitThatIsNotSharedTraps() async {
        await #expect(processExitsWith: .failure) {
            var table = SharedUnits(size: 64)
            table.insert(7, frames: 1)
            _ = table.removeFrame(of: 7)
            _ = table.removeFrame(of: 7)
        }
    }
}

@Suite struct FrameLayoutTests {
    /// Every layout keeps the three rules: no frame crosses a unit's border that could do without, no two overlap, and a
    /// long one has its units to itself.
    @Test(arguments: UInt64(1)...20, [true, false])
    func framesOfAnyLengthsKeepTheRules(seed: UInt64, sharesUnits: Bool) {
        var random = SeededGenerator(seed: seed)
        var layout = FrameLayout(capacity: 262_144, sharesUnits: sharesUnits)
        var end = 0
        var lastIsLong = false
        while true {
            let length =
                Bool.random(using: &random)
                ? Int.random(in: 1...200, using: &random) : Int.random(in: 1...16_384, using: &random)
            guard let offset = layout.offset(for: length) else { break }
            layout.take(offset, length: length)
            #expect(offset >= end && offset % FrameLayout.grain == 0 && offset + length <= 262_144)
            if length <= 4096 { #expect(offset / 4096 == (offset + length - 1) / 4096) }
            if length > 4096 || lastIsLong || !sharesUnits { #expect(offset % 4096 == 0) }
            #expect(offset - end < 4096, "no unit is left empty")
            end = offset + length
            lastIsLong = length > 4096
        }
        #expect(end > 262_144 - 2 * 16_384)
    }

    @Test func aUnitHasAtMost128Frames() {
        var layout = FrameLayout(capacity: 262_144, sharesUnits: true)
        var inFirstUnit = 0
        while let offset = layout.offset(for: 1), offset < 4096 {
            layout.take(offset, length: 1)
            inFirstUnit += 1
        }
        #expect(inFirstUnit == 128)
    }
}
