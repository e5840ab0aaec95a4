import CLinuxShims
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Serialized: the shelf is the process's.
@Suite(.serialized) struct WarmPagesTests {
    private static let size = 256 << 10

    /// Offers fresh pages; whether they are kept. What is not is unmapped.
    private func offer(to pages: WarmPages, isTrading: Bool) throws -> Bool {
        guard let address = unsafe pk_map_pages(Self.size) else { throw CancellationError() }
        // Mapped here, with this length.
        let isKept =
            isTrading
            ? WarmPages.trading { unsafe pages.keep(address, byteCount: Self.size) }
            : unsafe pages.keep(address, byteCount: Self.size)
        if !isKept { _ = unsafe pk_unmap_pages(address, Self.size) }
        return isKept
    }

    /// Takes pages off the shelf and unmaps them; whether there were any.
    private func take(_ byteCount: Int, from pages: WarmPages) -> Bool {
        guard let address = unsafe pages.take(byteCount: byteCount) else { return false }
        _ = unsafe pk_unmap_pages(address, byteCount)
        return true
    }

    @Test func onlyWhatIsTradedIsKept() throws {
        let pages = WarmPages()
        #expect(try !offer(to: pages, isTrading: false))
        #expect(try offer(to: pages, isTrading: true))
        #expect(pages.byteCount == Self.size)
        #expect(!take(2 * Self.size, from: pages), "another size is no use")
        #expect(take(Self.size, from: pages))
        #expect(!take(Self.size, from: pages))
    }

    @Test func keepsNoMoreThanItMayAndNothingDuringAReclaim() throws {
        let pages = WarmPages()
        var kept = 0
        for _ in 0..<100 where try offer(to: pages, isTrading: true) { kept += 1 }
        #expect(kept > 0 && pages.byteCount == kept * Self.size)
        #expect(pages.byteCount <= WarmPages.mostBytes)
        pages.close()
        #expect(pages.byteCount == 0)
        #expect(try !offer(to: pages, isTrading: true))
        pages.reopen()
        #expect(try offer(to: pages, isTrading: true))
        pages.empty()
    }

    /// Under a small limit little is kept, and what is over goes when the limit comes.
    @Test func keepsLessUnderASmallLimit() throws {
        let pages = WarmPages()
        for _ in 0..<4 { #expect(try offer(to: pages, isTrading: true)) }
        pages.follow(Reserves(limit: .mebibytes(16), processors: 1, quota: nil))
        #expect(pages.byteCount == 0)
        var kept = 0
        for _ in 0..<100 where try offer(to: pages, isTrading: true) { kept += 1 }
        #expect(kept == 2, "a thirty-second of 16 MiB")
        pages.follow(Reserves(limit: nil, processors: 1, quota: nil))
        #expect(try offer(to: pages, isTrading: true))
        pages.empty()
    }

    @Test func aFullCacheTradesPagesAndAWarningTakesThem() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("pages", options: .init(limit: .bytes(4 * Self.size))) { (key: Int) in
            var buffer = PageBuffer(byteCount: Self.size)
            // The whole of the buffer's own bytes.
            unsafe buffer.withUnsafeMutableBytes { bytes in
                for index in bytes.indices { unsafe bytes[index] = UInt8(truncatingIfNeeded: key &+ index) }
            }
            return buffer
        }
        for key in 0..<40 {
            try cache.withValue(for: key) { value in
                // The buffer has more than one byte.
                let first = unsafe value.withUnsafeBytes { unsafe $0[0] }
                #expect(first == UInt8(truncatingIfNeeded: key))
            }
        }
        #expect(WarmPages.shared.byteCount > 0)
        // Zeros, whoever had the pages before.
        let zeros = PageBuffer(byteCount: Self.size)
        #expect(zeros == PageBuffer([UInt8](repeating: 0, count: Self.size)))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(WarmPages.shared.byteCount == 0)
    }
}
