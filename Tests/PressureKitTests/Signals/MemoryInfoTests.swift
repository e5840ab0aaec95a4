#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import Testing

@Suite struct MemoryInfoTests {
    @Test func theKernelsOwnWordComesFirst() throws {
        let info = try #require(try Meminfo.parsed("linux-4.18"))
        #expect(info.headroom?.available == .kibibytes(1_950_080))
        #expect(info.headroom?.limit == .kibibytes(8_164_548))
    }

    /// The estimate stands in for MemAvailable on old kernels; where there are both they must agree.
    @Test(arguments: ["linux-4.18", "linux-5.4", "linux-6.18", "lxcfs"])
    func theEstimateIsWithinFourPercentOfTheKernels(_ kernel: String) throws {
        let info = try #require(try Meminfo.parsed(kernel))
        let available = try #require(info.available)
        let estimate = try #require(info.estimatedAvailable)
        let error = Double(estimate.bytes - available.bytes) / Double(info.total.bytes)
        #expect(abs(error) <= 0.04)
    }

    /// By hand: √7778104 is 2788, so the low watermark is 5 × 2788 kB = 13944 kB, less than half of the cache and of the
    /// slab. 4806144 − 13944 + (1278588 − 13944) + (218104 − 13944) = 6261004 kB.
    @Test func theEstimateOfAnOldKernelIsItsFormula() throws {
        let info = try #require(try Meminfo.parsed("linux-2.6.32"))
        #expect(info.available == nil)
        let estimate = try #require(info.headroom?.available)
        #expect(abs(estimate.bytes - ByteCount.kibibytes(6_261_004).bytes) < 8 << 10)
    }

    /// Before 2.6.28 there are no file lists: Cached + Buffers stands for them.
    @Test func withoutFileListsTheWholeCacheCounts() throws {
        let info = try #require(try Meminfo.parsed("linux-2.6.24"))
        let estimate = try #require(info.headroom?.available)
        let most = ByteCount.kibibytes(57_940 + 41_368 + 402_820 + 47_092)
        #expect(estimate < most)
        #expect(estimate > most - .kibibytes(3 * 6_000))
    }

    @Test func sharedMemoryIsNotTakenForCache() {
        var info = MemoryInfo(total: .mebibytes(1000))
        info.free = .mebibytes(100)
        info.cached = .mebibytes(500)
        let all = info.estimatedAvailable
        info.shared = .mebibytes(500)
        #expect(info.estimatedAvailable! < all! - .mebibytes(400))
    }

    @Test func anAvailableOfZeroIsNotBelieved() {
        var info = MemoryInfo(total: .mebibytes(1000))
        info.available = .zero
        info.free = .mebibytes(500)
        #expect(info.headroom!.available > .mebibytes(400))
        info.free = .kibibytes(4)
        #expect(info.headroom!.available == .zero)
        info.free = nil
        #expect(info.headroom!.available == .zero)
    }

    @Test func moreAvailableThanThereIsMeansAll() {
        var info = MemoryInfo(total: .mebibytes(1000))
        info.available = .mebibytes(3000)
        #expect(info.headroom?.available == .mebibytes(1000))
    }

    @Test func withNeitherAvailableNorFreeThereIsNoHeadroom() {
        #expect(MemoryInfo(total: .mebibytes(1)).headroom == nil)
    }

    @Test(arguments: [(0, 0), (1, 0), (0, -1), (1, Int.max), (5, (1 << 60) + 1)])
    func aLimitThatIsNoneMakesNoHeadroom(available: Int, limit: Int) {
        #expect(Headroom(available: .bytes(available), limit: .bytes(limit)) == nil)
    }

    @Test func availableIsBroughtIntoTheLimit() {
        #expect(Headroom(available: .bytes(-5), limit: .bytes(10))?.available == .zero)
        #expect(Headroom(available: .bytes(50), limit: .bytes(10))?.available == .bytes(10))
    }
}
#endif
