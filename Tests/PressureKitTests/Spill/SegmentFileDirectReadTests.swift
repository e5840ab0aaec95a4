import Glibc
import PressureKitTestSupport
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit
@testable import PressureSystem
@testable import SpillStore

/// Under a limit that counts the page cache, long frames are not read through it.
@Suite struct SegmentFileDirectReadTests {
    private static let underALimit = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: true)

    private func disk(_ support: InMemoryFileSystem.DirectSupport = .whole) -> FaultyFileSystem { .disk(support) }

    @Test(arguments: InMemoryFileSystem.DirectSupport.allCases, SpillAssurance.allCases)
    func everyLengthComesBackWhereverItIsToLie(
        _ support: InMemoryFileSystem.DirectSupport,
        _ assurance: SpillAssurance
    ) throws {
        let fixture = try SpillFixture(disk(support), limits: Self.underALimit)
        let pages = try ReservedPages(byteCount: SegmentFile.chunkSize + 4096)
        let untouched = unsafe [UInt8](repeating: 0xAA, count: pages.bytes.count)
        for choice in CompressionChoice.allCases {
            for content in [Content.noise, .text] {
                for count in [1, 511, 4095, 4096, 4097, 100_000, 258_049, 262_144] {
                    let bytes = content.bytes(count)
                    let record = try fixture.write(bytes, choice, assurance: assurance)
                    for shift in [0, 1, 512] {
                        unsafe pages.bytes.initializeMemory(as: UInt8.self, repeating: 0xAA)
                        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: pages.bytes[shift..<shift + count])
                        try unsafe fixture.file.read(record, into: place, with: fixture.decoder)
                        // Byte by byte it would take a minute. The rest is no longer than the pages.
                        #expect(unsafe memcmp(place.baseAddress!, bytes, count) == 0)
                        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: pages.bytes[(shift + count)...])
                        #expect(unsafe memcmp(rest.baseAddress!, untouched, rest.count) == 0, "nothing lands behind it")
                    }
                    fixture.file.release(record)
                }
            }
        }
    }

    /// One call for each chunk, and nothing that would have to be dropped. Shorter ones, and all without such a limit, go
    /// through the page cache.
    @Test(arguments: [true, false]) func aReadIsOneCall(bypasses: Bool) throws {
        let faulty = disk()
        let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: bypasses)
        let fixture = try SpillFixture(faulty, limits: limits)
        #expect(faulty.calls(.advise) == 1)
        for (count, isLong) in [(4096, false), (16_383, false), (16_384, true), (131_071, true), (262_144, true)] {
            let record = try fixture.write(Content.noise.bytes(count), assurance: .taken)
            let (reads, drops) = (faulty.calls(.read), faulty.calls(.dropCached))
            _ = try fixture.read(record)
            #expect(faulty.calls(.read) - reads == 1)
            #expect(faulty.calls(.dropCached) - drops == (bypasses && !isLong ? 1 : 0), "\(count) bytes")
        }
    }

    /// Devices may be read far ahead: a few neighbours in a row must not bring those behind them into memory.
    @Test(arguments: [8 << 10, 32 << 10]) func whatIsReadInARowBringsNothingElse(length: Int) throws {
        let fixture = try SpillFixture(LinuxFileSystem(), limits: Self.underALimit)
        let values = (0..<64).map { Content.noise.bytes(length - $0) }
        let records = try values.map { try fixture.write($0, assurance: .taken) }
        fixture.file.drainWriteback()
        fixture.file.dropCached(at: 0, count: 0)
        let before = try CachedPages(ofFile: fixture.file.descriptor)
        #expect(before.cached == 0 && before.all >= 64 * length / 4096)
        for index in 0..<16 { #expect(try fixture.read(records[index]) == values[index]) }
        #expect(try CachedPages(ofFile: fixture.file.descriptor).cached == 0)
    }

    /// A file system that opens such a file and reads nothing of it is asked once.
    @Test func whoeverRefusesIsReadThroughThePageCache() throws {
        let base = InMemoryFileSystem()
        let faulty = FaultyFileSystem(wrapping: base)
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(200_000)
        let record = try fixture.write(bytes, assurance: .taken)
        base.setDirectSupport(.openOnly)
        let reads = faulty.calls(.read)
        for _ in 0..<3 { #expect(try fixture.read(record) == bytes) }
        #expect(faulty.calls(.read) - reads == 4)
    }

    @Test func whatFallsShortIsReadOnceMore() throws {
        let faulty = disk()
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(200_000)
        let record = try fixture.write(bytes, assurance: .taken)
        faulty.set(.init(.short, on: .read, .once(1)))
        #expect(try fixture.read(record) == bytes)
    }

    @Test(arguments: [SpillAssurance.taken, .onDevice])
    func damageAndFailuresAreTold(_ assurance: SpillAssurance) throws {
        let faulty = disk()
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(200_000)
        let record = try fixture.write(bytes, assurance: assurance)
        faulty.set(.init(.bitFlip, on: .read, .once(1)))
        #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(record) }
        faulty.set(.init(.error(EIO), on: .read, .once(1)))
        #expect(throws: SpillFailure.readFailed(.ioError)) { try fixture.read(record) }
        #expect(try fixture.read(record) == bytes)
    }
}
