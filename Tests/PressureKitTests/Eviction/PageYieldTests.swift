#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// How much of small values has to leave for pages to come free.
@Suite struct PageYieldTests {
    @Test func ofValuesThatShareEachPageByTwoAThirdLeavesForANinth() {
        let heap = PageYield(resident: 90 << 20, free: 0, size: 4096)
        #expect(abs(heap.leaving(for: 10 << 20) - 30 << 20) <= 1)
    }

    @Test(arguments: [32 << 10, 128 << 10, 1 << 20]) func largeValuesTakeTheirPagesWithThem(size: Int) {
        #expect(PageYield(resident: 90 << 20, free: 20 << 20, size: size).leaving(for: 10 << 20) == 10 << 20)
    }

    /// What is free already makes more of what leaves.
    @Test func theEmptierTheHeapTheLessHasToLeave() {
        var last = Int.max
        for free in stride(from: 0, through: 80, by: 10) {
            let leaving = PageYield(resident: (90 - free) << 20, free: free << 20, size: 4096).leaving(for: 1 << 20)
            #expect(leaving < last && leaving >= 1 << 20, "\(free)")
            last = max(leaving, 1 << 20 + 1)
        }
    }

    /// By chance: values of a size in a row, of which any leave. What is counted is what the formula says.
    @Test(arguments: [(1024, 20), (2048, 20), (4096, 10), (16 << 10, 10)])
    func itIsWhatIsCountedWhenAnyLeave(size: Int, wantedPercent: Int) {
        let count = (32 << 20) / size
        let wanted = (32 << 20) / 100 * wantedPercent
        // Aligned as the C library does it: a page boundary lies anywhere in a value.
        let leaving = PageYield(resident: count * size, free: 0, size: size).leaving(for: wanted)
        var random = SeededGenerator(seed: 7)
        let part = Double(leaving) / Double(count * size)
        let isGone = (0..<count).map { _ in Double.random(in: 0..<1, using: &random) < part }
        let pages = (0..<(32 << 20) / 4096).count { page in
            let (start, end) = (page * 4096 + 16, page * 4096 + 4096 + 16)
            return (start / size...min((end - 1) / size, count - 1)).allSatisfy { isGone[$0] }
        }
        let ratio = Double(pages * 4096) / Double(wanted)
        #expect(ratio > 0.8 && ratio < 1.25, "\(ratio)")
    }

    @Test func thereIsNoMoreThanThereIs() {
        #expect(PageYield(resident: 1 << 20, free: 0, size: 100).leaving(for: 1 << 19) <= 1 << 20)
        #expect(PageYield(resident: 0, free: 0, size: 0).leaving(for: 5) == 5)
    }
}
#endif
