import Glibc
import PressureKitTestSupport
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

/// Under a limit that counts the page cache, what is read does not pass through it.
@Suite struct SegmentFileDirectReadTests {
    private static let underALimit = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: true)

    private func disk(_ support: InMemoryFileSystem.DirectSupport = .whole) -> FaultyFileSystem {
        let base = InMemoryFileSystem()
        base.setDirectSupport(support)
        return FaultyFileSystem(wrapping: base)
    }

    @Test(arguments: InMemoryFileSystem.DirectSupport.allCases, SpillAssurance.allCases)
    func everyLengthComesBackWhereverItIsToLie(
        _ support: InMemoryFileSystem.DirectSupport,
        _ assurance: SpillAssurance
    ) throws {
        let fixture = try SpillFixture(disk(support), limits: Self.underALimit)
        let pages = try ReservedPages(byteCount: SegmentFile.chunkSize + 4096)
        for choice in CompressionChoice.allCases {
            for content in [Content.noise, .text] {
                for count in [1, 511, 4095, 4096, 4097, 100_000, 258_049, 262_144] {
                    let bytes = content.bytes(count)
                    let record = try fixture.write(bytes, choice, assurance: assurance)
                    for shift in [0, 1, 512] {
                        unsafe pages.bytes.initializeMemory(as: UInt8.self, repeating: 0xAA)
                        let place = unsafe UnsafeMutableRawBufferPointer(rebasing: pages.bytes[shift..<shift + count])
                        try unsafe fixture.file.read(record, into: place, with: fixture.decoder)
                        #expect(unsafe place.elementsEqual(bytes))
                        // Nothing lands behind it.
                        #expect(unsafe pages.bytes[(shift + count)...].allSatisfy { $0 == 0xAA })
                    }
                    fixture.file.release(record)
                }
            }
        }
    }

    /// One call for each chunk; and nothing that would have to be dropped.
    @Test func aReadIsOneCall() throws {
        let faulty = disk()
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let records = try [4096, 100_000, 262_144].map { try fixture.write(Content.noise.bytes($0), assurance: .taken) }
        let (reads, drops) = (faulty.calls(.read), faulty.calls(.dropCached))
        for record in records { _ = try fixture.read(record) }
        #expect(faulty.calls(.read) - reads == records.count)
        #expect(faulty.calls(.dropCached) == drops)
    }

    /// Frames that share a unit are picked out of it.
    @Test func smallFramesAreFoundInTheirUnit() throws {
        let fixture = try SpillFixture(disk(), limits: Self.underALimit)
        let values = (0..<20).map { Content.noise.bytes(300 + $0 * 37, seed: UInt64($0)) }
        fixture.file.beginBatch(with: fixture.encoder)
        for value in values {
            // The array's bytes are only used for the length of the call.
            #expect(unsafe value.withUnsafeBytes { unsafe fixture.file.append($0, to: fixture.encoder) })
        }
        try fixture.file.writeBatch(with: fixture.encoder, assurance: .taken)
        let records = values.indices.map { fixture.encoder.batchRecord($0) }
        #expect(Set(records.map(\.unit)).count < records.count)
        for (record, value) in zip(records, values) { #expect(try fixture.read(record) == value) }
    }

    /// A file system that opens such a file and reads nothing of it is asked once.
    @Test func whoeverRefusesIsReadThroughThePageCache() throws {
        let faulty = disk(.openOnly)
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(100_000)
        let record = try fixture.write(bytes, assurance: .taken)
        let reads = faulty.calls(.read)
        for _ in 0..<3 { #expect(try fixture.read(record) == bytes) }
        #expect(faulty.calls(.read) - reads == 4)
    }

    @Test func whatFallsShortIsReadOnceMore() throws {
        let faulty = disk()
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(100_000)
        let record = try fixture.write(bytes, assurance: .taken)
        faulty.set(.init(.short, on: .read, .once(1)))
        #expect(try fixture.read(record) == bytes)
    }

    @Test(arguments: [SpillAssurance.taken, .onDevice])
    func damageAndFailuresAreTold(_ assurance: SpillAssurance) throws {
        let faulty = disk()
        let fixture = try SpillFixture(faulty, limits: Self.underALimit)
        let bytes = Content.noise.bytes(100_000)
        let record = try fixture.write(bytes, assurance: assurance)
        faulty.set(.init(.bitFlip, on: .read, .once(1)))
        #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(record) }
        faulty.set(.init(.error(EIO), on: .read, .once(1)))
        #expect(throws: SpillFailure.readFailed(.ioError)) { try fixture.read(record) }
        #expect(try fixture.read(record) == bytes)
    }
}
