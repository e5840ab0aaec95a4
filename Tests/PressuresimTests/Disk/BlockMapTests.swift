import Testing

@testable import SampleContent
@testable import pressuresim

@Suite struct BlockMapTests {
    @Test func blocksAreHeldFromTheFirstByteToTheLast() {
        var map = BlockMap()
        map.write(at: 4095, count: 2)
        #expect(map.allocatedBytes == 8192)
        #expect(map.size == 4097)
        map.write(at: 4095, count: 2)
        #expect(map.allocatedBytes == 8192)
        map.write(at: 0, count: 0)
        #expect(map.size == 4097)
    }

    @Test func onlyWholeBlocksArePunched() {
        var map = BlockMap()
        map.write(at: 0, count: 4 * 4096)
        map.punch(at: 1, count: 2 * 4096)
        #expect(map.count == 3)
        map.punch(at: 0, count: 1 << 40)
        #expect(map.count == 0)
        #expect(map.size == 4 * 4096)
    }

    @Test func whatIsCutOffIsHeldNoMore() {
        var map = BlockMap()
        map.write(at: 0, count: 100 * 4096)
        map.truncate(to: 10 * 4096 + 1)
        #expect(map.count == 11)
        map.truncate(to: 20 * 4096)
        #expect(map.count == 11)
        #expect(map.size == 20 * 4096)
    }

    /// Against a set of block numbers.
    @Test(arguments: 1...4)
    func agreesWithAModel(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed), stream: 1)
        var map = BlockMap()
        var model: Set<Int64> = []
        var size: Int64 = 0
        for step in 0..<500 {
            let offset = Int64(random.unit() * 500_000)
            let count = Int64(random.unit() * 60_000) + 1
            switch random.next() % 4 {
            case 0, 1:
                map.write(at: offset, count: Int(count))
                for block in offset / 4096...(offset + count - 1) / 4096 { model.insert(block) }
                size = max(size, offset + count)
            case 2:
                map.punch(at: offset, count: count)
                model = model.filter { $0 * 4096 < offset || ($0 + 1) * 4096 > offset + count }
            default:
                guard step % 10 == 0 else { continue }
                map.truncate(to: offset)
                model = model.filter { $0 * 4096 < offset }
                size = offset
            }
            #expect(map.count == model.count, "seed \(seed), step \(step)")
            #expect(map.size == size, "seed \(seed), step \(step)")
        }
    }
}
