import Glibc
import PressureKitTestSupport
import Testing

@testable import PressureKit

/// Blocks that are large for a limit come back when they are freed, whatever the C library would do with them.
@Suite struct LargeBlocksTests {
    @Test func aSixtyFourthOfTheLimitIsLarge() {
        #expect(LargeBlocks.length(below: 64 << 20) == 1 << 20)
        #expect(LargeBlocks.length(below: 512 << 20) == 8 << 20)
        #expect(LargeBlocks.length(below: 16 << 20) == 1 << 20)
        #expect(LargeBlocks.length(below: 1 << 40) == 32 << 20)
        #expect(LargeBlocks.kept(below: 64 << 20) == 256 << 10)
        #expect(LargeBlocks.kept(below: 512 << 20) == 2 << 20)
        #expect(LargeBlocks.kept(below: 16 << 20) == 128 << 10)
        #expect(LargeBlocks.kept(below: 1 << 40) == 2 << 20)
    }

    /// glibc takes blocks from its heaps that are as large as one that was freed, and keeps them there.
    @Test func whatIsFreedIsMemoryAgain() async {
        await #expect(processExitsWith: .success) {
            // What the environment says is left alone, so the second is the first to be heard.
            LargeBlocks(environment: ["MALLOC_MMAP_THRESHOLD_": "1"]).follow(.mebibytes(32))
            LargeBlocks(environment: [:]).follow(.mebibytes(64))
            func resident() throws -> Int { try ProcessFootprint().residentBytes() }
            // The address of one that is filled, so that it is memory.
            func block() -> UInt {
                unsafe UInt(bitPattern: malloc(4 << 20).map { unsafe memset($0, 1, 4 << 20) } ?? nil)
            }
            func give(back address: UInt) { unsafe free(UnsafeMutableRawPointer(bitPattern: address)) }
            for _ in 0..<3 { give(back: block()) }
            let before = try resident()
            let blocks = (0..<4).map { _ in block() }
            guard try resident() - before >= 15 << 20 else { exit(1) }
            // The last one stays: what lies below it would not be given back.
            for address in blocks.dropLast() { give(back: address) }
            guard try resident() - before < 5 << 20 else { exit(2) }
        }
    }
}
