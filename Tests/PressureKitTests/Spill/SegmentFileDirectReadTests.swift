import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
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

    /// One call for each chunk, and nothing that would have to be dropped: long ones past the page cache, short ones so that they
    /// are not kept there.
    @Test(arguments: [true, false]) func aReadIsOneCall(bypasses: Bool) throws {
        let faulty = disk()
        let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: bypasses)
        let fixture = try SpillFixture(faulty, limits: limits)
        #expect(faulty.calls(.advise) == 1)
        for count in [1, 4096, 16_383, 16_384, 131_071, 262_144] {
            let record = try fixture.write(Content.noise.bytes(count), assurance: .taken)
            let (reads, drops) = (faulty.calls(.read), faulty.calls(.dropCached))
            _ = try fixture.read(record)
            #expect(faulty.calls(.read) - reads == 1)
            #expect(faulty.calls(.dropCached) == drops, "\(count) bytes")
        }
    }

    /// Where short ones have to be kept, a mebibyte of them is dropped together: each drop interrupts all processors.
    @Test func whatHasToBeKeptIsDroppedTogether() throws {
        let base = InMemoryFileSystem()
        base.setUncachedReads(false)
        let faulty = FaultyFileSystem(wrapping: base)
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(5000)
        // Two units each.
        let record = try fixture.write(bytes, .stored, assurance: .taken)
        let (reads, drops) = (faulty.calls(.read), faulty.calls(.dropCached))
        for read in 1...300 {
            #expect(try fixture.read(record) == bytes)
            #expect(faulty.calls(.dropCached) - drops == read / 128)
        }
        #expect(faulty.calls(.read) - reads == 301, "what is refused is asked for once")
        // That they cannot be dropped is no reason not to have read them.
        faulty.set(.init(.error(EIO), on: .dropCached))
        for _ in 0..<128 { #expect(try fixture.read(record) == bytes) }
        #expect(faulty.calls(.dropCached) - drops == 3)
    }

    /// A file system that has no such read is told from one that fails to read.
    @Test(arguments: [EOPNOTSUPP, EINVAL, EPERM, EIO]) func onlyARefusalIsAskedForOtherwise(number: CInt) throws {
        let faulty = disk()
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(5000)
        let record = try fixture.write(bytes, .stored, assurance: .taken)
        faulty.set(.init(.error(number), on: .read, .once(1)))
        guard number == EIO else {
            #expect(try fixture.read(record) == bytes)
            let isRefused = fixture.file.isUncachedRefused.load(ordering: .relaxed)
            #expect(isRefused)
            return
        }
        #expect(throws: SpillFailure.readFailed(.ioError)) { try fixture.read(record) }
        #expect(try fixture.read(record) == bytes)
        let isRefused = fixture.file.isUncachedRefused.load(ordering: .relaxed)
        #expect(!isRefused)
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
        // Kernels before 6.14 keep what was read for a while.
        let isKept = fixture.file.isUncachedRefused.load(ordering: .relaxed)
        #expect(try CachedPages(ofFile: fixture.file.descriptor).cached <= (isKept ? 16 * length / 4096 : 0))
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
