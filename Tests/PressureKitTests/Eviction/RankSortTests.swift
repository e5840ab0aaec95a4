#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import PressureKitTestSupport
import Testing

/// Sorting by rank: right, and in linear work. Work is counted in elements looked at, which is the same on every machine.
@Suite struct RankSortTests {
    /// Orders that sorts are known to stumble on, and the distributions that policies make.
    enum Shape: String, CaseIterable, CustomTestStringConvertible {
        case random, ascending, descending, organPipe, sawtooth, allEqual, twoValues, lowBitsOnly, highBitsOnly, floats

        var testDescription: String { rawValue }

        func ranks(_ count: Int, seed: UInt64) -> [UInt64] {
            var random = SeededGenerator(seed: seed)
            return (0..<count).map { index in
                switch self {
                case .random: random.next() >> 16
                case .ascending: UInt64(index)
                case .descending: UInt64(count - index)
                case .organPipe: UInt64(min(index, count - index))
                case .sawtooth: UInt64(index % 97)
                case .allEqual: 42
                case .twoValues: random.next() & 1
                case .lowBitsOnly: (7 << 40) | (random.next() & 0xFF)
                case .highBitsOnly: (random.next() & 0xFF) << 40
                case .floats: UInt64(Float.random(in: 0..<1, using: &random).bitPattern) << 12
                }
            }
        }
    }

    private func choices(_ ranks: [UInt64], shuffledBy seed: UInt64) -> [Planner.Choice] {
        var random = SeededGenerator(seed: seed)
        let indices = (0..<UInt32(ranks.count)).shuffled(using: &random)
        return zip(ranks, indices).map { Planner.Choice(rank: $0, index: $1) }
    }

    @Test(arguments: Shape.allCases, [0, 1, 2, 23, 24, 25, 1000, 20_000])
    func sortsByRankThenIndex(_ shape: Shape, count: Int) {
        let unsorted = choices(shape.ranks(count, seed: 11), shuffledBy: 12)
        var sorted = unsorted
        _ = unsafe sorted.withUnsafeMutableBufferPointer { unsafe RankSort.sort($0) }
        #expect(sorted == unsorted.sorted())
    }

    /// A comparison sort of n elements makes about n log₂ n comparisons, each of which looks at two: 34 looks an element
    /// here. This one's looks per element do not grow with n.
    @Test(arguments: Shape.allCases)
    func workIsLinear(_ shape: Shape) {
        for count in [10_000, 150_000] {
            var sorted = choices(shape.ranks(count, seed: 5), shuffledBy: 6)
            let looks = unsafe sorted.withUnsafeMutableBufferPointer { unsafe RankSort.sort($0) }
            #expect(looks <= 20 * count, "\(count): \(Double(looks) / Double(count)) looks each")
        }
    }
}
#endif
