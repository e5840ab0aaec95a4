#if !THREAD_SANITIZER  // One thread at a time.
import CAllocationCounter
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

@Suite struct SegmentFileTests {
    @Test(arguments: Content.allCases, CompressionChoice.allCases)
    func whatIsWrittenIsReadBack(_ content: Content, _ choice: CompressionChoice) throws {
        for fileSystem in [LinuxFileSystem(), InMemoryFileSystem()] as [any FileSystem] {
            let fixture = try SpillFixture(fileSystem)
            let lengths = [1, 2, 4095, 4096, 4097, 65_536, 65_537, 262_143, 262_144]
            let chunks = lengths.map { content.bytes($0, seed: UInt64($0)) }
            let records = try chunks.map { try fixture.write($0, choice) }
            for (record, bytes) in zip(records, chunks) { #expect(try fixture.read(record) == bytes) }
            // And in any order, as often as one likes.
            for (record, bytes) in zip(records, chunks).reversed() { #expect(try fixture.read(record) == bytes) }
        }
    }

    /// Whatever the writers of a file ask for, one reader reads it all.
    @Test func framesOfEveryCodecLieInOneFile() throws {
        let fixture = try SpillFixture(InMemoryFileSystem())
        let chunks = (0..<24).map { Content.text.bytes(20_000, seed: $0) }
        let choices = CompressionChoice.allCases
        let records = try chunks.enumerated().map { try fixture.write($1, choices[$0 % choices.count]) }
        #expect(Set(records.map(\.codec)) == Set(Codec.allCases))
        for (record, bytes) in zip(records, chunks) { #expect(try fixture.read(record) == bytes) }
    }

    @Test(
        arguments: [
            (0, 0, []), (1, 1, [0..<1]), (262_144, 1, [0..<262_144]),
            (262_145, 2, [0..<262_144, 262_144..<262_145]),
            (600_000, 3, [0..<262_144, 262_144..<524_288, 524_288..<600_000]),
        ] as [(Int, Int, [Range<Int>])]
    )
    func aValueIsCutIntoChunks(_ bytes: Int, _ count: Int, _ ranges: [Range<Int>]) {
        #expect(SegmentFile.chunkCount(forByteCount: bytes) == count)
        #expect((0..<count).map { SegmentFile.chunkRange($0, ofByteCount: bytes) } == ranges)
    }

    /// What was there before is in the file until it is overwritten or given back, and no record leads to it.
    @Test func aFreedExtentIsReadableToNobody() throws {
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk)
        let before = Content.noise.bytes(40_000, seed: 1)
        let old = try fixture.write(before, .stored)
        fixture.file.release(old)
        for length in [1, 100, 4095, 4096, 39_999] {
            let bytes = Content.noise.bytes(length, seed: 2)
            let record = try fixture.write(bytes, .stored, assurance: .taken)
            #expect(record.unit == old.unit, "the same place, or this shows nothing")
            #expect(try fixture.read(record) == bytes, "all of it and no more")
            #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(old) }
            fixture.file.release(record)
        }
        // The end of it is still there, as it is on a real disk.
        let contents = disk.contents(fixture.file.descriptor)
        #expect(contents[(Int(old.offset) + 39_999)...].first == before.last)
        fixture.file.punchPending()
        #expect(!disk.contents(fixture.file.descriptor).contains { $0 != 0 }, "given back, it is gone")
    }

    @Test func theFileHasNoNameAndIsClosedWithItsOwner() throws {
        let disk = InMemoryFileSystem()
        do {
            let fixture = try SpillFixture(disk)
            _ = try fixture.write(Content.text.bytes(100_000))
            #expect(disk.openFiles == 1)
            #expect(disk.names.isEmpty)
        }
        #expect(disk.openFiles == 0)
        #expect(disk.usedBytes == .zero)
    }

    @Test func withoutNamelessFilesTheNameIsGoneAtOnce() throws {
        let disk = InMemoryFileSystem()
        disk.setSupportsNameless(false)
        let fixture = try SpillFixture(disk)
        #expect(disk.names.isEmpty)
        let bytes = Content.text.bytes(100_000)
        #expect(try fixture.read(fixture.write(bytes)) == bytes)
    }

    @Test func aReleasedExtentIsReused() throws {
        let fixture = try SpillFixture(InMemoryFileSystem())
        let records = try (0..<3).map { try fixture.write(Content.noise.bytes(262_144, seed: $0)) }
        fixture.file.release(records[1])
        let again = try fixture.write(Content.noise.bytes(262_144, seed: 9))
        #expect(again.unit == records[1].unit)
        #expect(again.generation != records[1].generation)
        #expect(fixture.file.usage().fileBytes == 3 * 262_144)
    }

    @Test func aRecordThatOutlivedItsFrameIsRefused() throws {
        let fixture = try SpillFixture(InMemoryFileSystem())
        let stale = try fixture.write(Content.text.bytes(262_144, seed: 1))
        fixture.file.release(stale)
        let successor = try fixture.write(Content.text.bytes(262_144, seed: 2))
        #expect(successor.unit == stale.unit)
        #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(stale) }
        #expect(try fixture.read(successor) == Content.text.bytes(262_144, seed: 2))
    }

    @Test func framesThatChangedPlacesAreRefused() throws {
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk)
        let records = try (1...2).map { try fixture.write(Content.noise.bytes(100_000, seed: $0)) }
        let file = try #require(disk.descriptors.first)
        let contents = disk.contents(file)
        let frames = records.map { Array(contents[Int($0.offset)..<Int($0.offset) + Int($0.storedLength)]) }
        disk.overwrite(file, at: Int(records[0].offset), with: frames[1])
        disk.overwrite(file, at: Int(records[1].offset), with: frames[0])
        for record in records {
            #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(record) }
        }
    }

    @Test func aRecordWithImpossibleLengthsIsRefusedUnread() throws {
        let fixture = try SpillFixture(InMemoryFileSystem())
        let sound = try fixture.write(Content.text.bytes(1000))
        for storedLength in [0, 999, 1001, 262_145, 1 << 23 - 1] as [UInt32] {
            let record = SpillRecord(
                generation: sound.generation,
                unit: sound.unit,
                storedLength: storedLength,
                plainLength: sound.plainLength,
                codec: sound.codec
            )
            #expect(throws: SpillFailure.damaged(.contradiction)) { try fixture.read(record) }
        }
    }

    @Test func usageAddsUp() throws {
        let fixture = try SpillFixture(InMemoryFileSystem())
        let text = try fixture.write(Content.text.bytes(262_144))
        let noise = try fixture.write(Content.noise.bytes(10_000))
        let full = fixture.file.usage()
        #expect(full.frames == 2 && full.framesWritten == 2)
        #expect(full.plainBytes == 272_144)
        #expect(full.storedBytes == Int(text.storedLength) + 10_000)
        #expect(full.occupiedBytes == text.occupiedBytes + 12_288)
        #expect(full.freeBytes == 0 && full.pendingBytes == 0)
        #expect(full.allocatedBytes == full.occupiedBytes)
        fixture.file.release(text)
        let half = fixture.file.usage()
        #expect(half.freeBytes == text.occupiedBytes && half.pendingBytes == text.occupiedBytes)
        #expect(half.allocatedBytes == full.allocatedBytes)
        fixture.file.release(noise)
        let empty = fixture.file.usage()
        #expect(empty.frames == 0 && empty.plainBytes == 0 && empty.storedBytes == 0 && empty.occupiedBytes == 0)
        #expect(empty.bytesWritten == full.bytesWritten)
        fixture.file.punchPending()
        let punched = fixture.file.usage()
        #expect(punched.fileBytes == 0 && punched.allocatedBytes == 0 && punched.pendingBytes == 0)
    }

    /// On the real file system too, the blocks of what was released come back, and what is live stays readable.
    @Test(arguments: [true, false]) func punchingGivesBackExactlyWhatIsFree(isReal: Bool) throws {
        let fixture = try SpillFixture(isReal ? LinuxFileSystem() : InMemoryFileSystem() as any FileSystem)
        var live: [(SpillRecord, [UInt8])] = []
        for seed in UInt64(0)..<24 {
            let bytes = Content.noise.bytes(100_000, seed: seed)
            live.append((try fixture.write(bytes), bytes))
        }
        for index in live.indices.reversed() where index % 3 != 0 {
            fixture.file.release(live.remove(at: index).0)
        }
        fixture.file.punchPending()
        let usage = fixture.file.usage()
        #expect(usage.pendingBytes == 0)
        let allocated = try #require(usage.allocatedBytes)
        // A real file of this many pieces may need a block that says where they are.
        #expect(allocated - usage.occupiedBytes >= 0 && allocated - usage.occupiedBytes <= (isReal ? 4096 : 0))
        #expect(usage.fileBytes <= usage.occupiedBytes + usage.freeBytes)
        for (record, bytes) in live { #expect(try fixture.read(record) == bytes) }
        // The holes are used again.
        let bytes = Content.noise.bytes(100_000, seed: 99)
        #expect(try fixture.read(fixture.write(bytes)) == bytes)
        #expect(fixture.file.usage().fileBytes == usage.fileBytes)
    }

    @Test func aRehearsalProvesTheFileAndLeavesNothingBehind() throws {
        let disk = InMemoryFileSystem()
        let faulty = FaultyFileSystem(wrapping: disk)
        let fixture = try SpillFixture(faulty)
        try fixture.file.rehearse(with: fixture.encoder, fixture.decoder)
        #expect(fixture.file.usage().frames == 0)
        #expect(disk.usedBytes == .zero)
        faulty.set(.init(.lyingWrite, on: .write))
        #expect(throws: SpillFailure.notWritten) {
            try fixture.file.rehearse(with: fixture.encoder, fixture.decoder)
        }
        faulty.set(.init(.error(Errno.ioError.rawValue), on: .read, .from(6)))
        #expect(throws: SpillFailure.readFailed(.ioError)) {
            try fixture.file.rehearse(with: fixture.encoder, fixture.decoder)
        }
        #expect(fixture.file.usage().frames == 0)
    }

    /// P5: from the first write after a rehearsal to the last release nothing is allocated. Calls that throw are not
    /// counted: Swift Testing hooks every throw, and its hook allocates.
    @Test(arguments: CompressionChoice.allCases, [true, false])
    func spillingAndRestoringAllocateNothing(_ choice: CompressionChoice, bypassesPageCache: Bool) throws {
        let limits = SpillLimits(
            maximumBytes: .mebibytes(64),
            freeSpaceFloor: .mebibytes(1),
            bypassPageCache: bypassesPageCache
        )
        let fixture = try SpillFixture(LinuxFileSystem(), limits: limits, frames: 128)
        try fixture.file.rehearse(with: fixture.encoder, fixture.decoder)
        let chunks = Content.allCases.map { $0.bytes(262_144) }
        // The buffer is freed at the end of the test, after its last use.
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 262_144, alignment: 4096)
        defer { unsafe output.deallocate() }
        var records = [SpillRecord?](repeating: nil, count: 100)
        var allocations: UInt64 = 0
        func counting(_ body: () throws(SpillFailure) -> Void) throws(SpillFailure) {
            let before = pk_thread_allocations()
            try body()
            allocations += pk_thread_allocations() - before
        }
        for index in records.indices {
            try unsafe chunks[index % chunks.count].withUnsafeBytes { plain in
                try counting { () throws(SpillFailure) in
                    records[index] = try unsafe fixture.file.write(plain, with: fixture.encoder, compress: choice)
                }
            }
        }
        for index in records.indices where index % 2 == 1 {
            try counting { fixture.file.release(records[index]!) }
        }
        try counting { fixture.file.punchPending() }
        try counting { fixture.file.drainWriteback() }
        for index in records.indices where index % 2 == 0 {
            try counting { () throws(SpillFailure) in
                try unsafe fixture.file.read(records[index]!, into: output, with: fixture.decoder)
            }
            #expect(unsafe output.elementsEqual(chunks[index % chunks.count]))
            try counting { fixture.file.release(records[index]!) }
        }
        try counting { _ = fixture.file.usage() }
        #expect(allocations == 0)
    }
}
#endif
