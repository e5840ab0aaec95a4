#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit

@Suite struct SegmentFileFaultTests {
    /// The errors a disk gives, and one that says the disk is full without the system's help.
    private static let errors: [Errno] = [.noSpace, .ioError, .diskQuotaExceeded, .badFileDescriptor]

    /// Fails the first call, then the second, and so on until a whole run of writes, reads and releases meets no fault;
    /// after every failure the file is as it was and everything written before can be read.
    @Test(arguments: errors, CompressionChoice.allCases)
    func anErrorAtAnyCallLeavesTheFileAsItWas(_ errno: Errno, _ choice: CompressionChoice) throws {
        for isLasting in [false, true] {
            var number = 0
            repeat {
                number += 1
                let disk = InMemoryFileSystem()
                let faulty = FaultyFileSystem(wrapping: disk)
                let fixture = try SpillFixture(faulty, limits: SpillLimits(freeSpaceFloor: .mebibytes(1)))
                let kept = Content.text.bytes(150_000, seed: 77)
                let keptRecord = try fixture.write(kept)
                let before = fixture.file.usage()

                faulty.set(.init(.error(errno.rawValue), isLasting ? .from(number) : .once(number)))
                let bytes = Content.noiseThenText.bytes(262_144)
                do {
                    let record = try fixture.write(bytes, choice)
                    #expect(try fixture.read(record) == bytes)
                    fixture.file.release(record)
                } catch let failure as SpillFailure {
                    #expect(failure == .writeFailed(errno) || failure == .readFailed(errno))
                    let isFull = [.noSpace, .diskQuotaExceeded].contains(errno)
                    #expect(failure.isDiskFull == (isFull && failure == .writeFailed(errno)))
                }
                let struck = faulty.faults
                faulty.set(nil)
                let after = fixture.file.usage()
                #expect(try fixture.read(keptRecord) == kept)
                if after.frames == before.frames {
                    #expect(after.occupiedBytes == before.occupiedBytes)
                    #expect(after.storedBytes == before.storedBytes)
                }
                // A second attempt succeeds once the disk is well.
                let again = try fixture.write(bytes, choice)
                #expect(try fixture.read(again) == bytes)
                if struck == 0 { break }
            } while true
            #expect(number > 3, "no call was struck: the test tests nothing")
        }
    }

    /// Reads and writes that stop half-way are the system's right, not an error.
    @Test(arguments: [FaultyFileSystem.Operation.read, .write], [1, 2, 3])
    func shortTransfersAreContinued(_ operation: FaultyFileSystem.Operation, every period: Int) throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        faulty.set(.init(.short, on: operation, .every(period)))
        for content in Content.allCases {
            for count in [1, 33, 4096, 262_144] {
                let bytes = content.bytes(count)
                #expect(try fixture.read(fixture.write(bytes)) == bytes)
            }
        }
        #expect(faulty.faults > 0)
    }

    @Test(arguments: CompressionChoice.allCases, [2, 100, 262_144])
    func aWriteThatLiesIsAFailedSpill(_ choice: CompressionChoice, _ count: Int) throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        faulty.set(.init(.lyingWrite, on: .write, .once(1)))
        #expect(throws: SpillFailure.notWritten) { try fixture.write(Content.text.bytes(count), choice) }
        #expect(fixture.file.usage().occupiedBytes == 0)
        #expect(try fixture.read(fixture.write(Content.text.bytes(count), choice)) == Content.text.bytes(count))
    }

    /// Without verification the lie comes out when the chunk is read: an error, and never wrong bytes.
    @Test(arguments: CompressionChoice.allCases)
    func anUnverifiedLieIsFoundOnReading(_ choice: CompressionChoice) throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        faulty.set(.init(.lyingWrite, on: .write, .once(1)))
        let record = try fixture.write(Content.text.bytes(262_144), choice, assurance: .taken)
        #expect(throws: SpillFailure.damaged(.truncated)) { try fixture.read(record) }
    }

    @Test(arguments: CompressionChoice.allCases)
    func aBitThatFlipsOnReadingIsFoundWhereverItIs(_ choice: CompressionChoice) throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        let bytes = Content.noiseThenText.bytes(20_000)
        let record = try fixture.write(bytes, choice)
        faulty.set(.init(.bitFlip, on: .read))
        for _ in 0..<500 {
            #expect {
                try fixture.read(record)
            } throws: { error in
                guard case .damaged = error as? SpillFailure else { return false }
                return true
            }
        }
        faulty.set(nil)
        #expect(try fixture.read(record) == bytes)
    }

    @Test func verificationFindsABitThatFlipped() throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        // From the page cache it is read in pieces, from the device at once.
        for (assurance, number) in [(SpillAssurance.readBack, 1), (.readBack, 4), (.onDevice, 1)] {
            faulty.set(.init(.bitFlip, on: .read, .once(number)))
            #expect(throws: SpillFailure.notWritten) {
                try fixture.write(Content.noise.bytes(262_144), .stored, assurance: assurance)
            }
            #expect(faulty.faults == 1)
        }
        #expect(fixture.file.usage().occupiedBytes == 0)
    }

    @Test func aDamagedDiskGivesErrorsAndNoWrongBytes() throws {
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk)
        let records = try Content.allCases.map { try fixture.write($0.bytes(50_000)) }
        disk.damageEverything()
        for record in records {
            #expect(throws: SpillFailure.damaged(.checksumMismatch)) { try fixture.read(record) }
        }
    }

    @Test func aFullDiskIsReportedAndWorksAgainOnceThereIsRoom() throws {
        let disk = InMemoryFileSystem(capacity: .kibibytes(300))
        let fixture = try SpillFixture(disk)
        let bytes = Content.noise.bytes(262_144)
        let first = try fixture.write(bytes)
        #expect(throws: SpillFailure.writeFailed(.noSpace)) { try fixture.write(bytes) }
        #expect(fixture.file.usage().frames == 1)
        #expect(try fixture.read(first) == bytes)
        fixture.file.release(first)
        fixture.file.punchPending()
        #expect(disk.usedBytes == .zero)
        #expect(try fixture.read(fixture.write(bytes)) == bytes)
    }

    @Test func theCapIsNeverPassedAndFreedSpaceCountsAgain() throws {
        let cap = ByteCount.kibibytes(600)
        let fixture = try SpillFixture(
            InMemoryFileSystem(),
            limits: SpillLimits(maximumBytes: cap, freeSpaceFloor: .zero)
        )
        let bytes = Content.noise.bytes(262_144)
        let records = try (0..<2).map { _ in try fixture.write(bytes) }
        #expect(throws: SpillFailure.limitReached) { try fixture.write(bytes) }
        #expect(fixture.file.usage().fileBytes <= cap.bytes)
        fixture.file.release(records[0])
        #expect(try fixture.read(fixture.write(bytes)) == bytes)
        #expect(fixture.file.usage().fileBytes <= cap.bytes)
    }

    /// A write past RLIMIT_FSIZE would end the process with SIGXFSZ.
    @Test func theFileStaysBelowTheFileSizeLimitOfTheProcess() throws {
        let disk = InMemoryFileSystem()
        disk.setMaximumFileSize(300_000)
        let fixture = try SpillFixture(disk)
        let bytes = Content.noise.bytes(262_144)
        _ = try fixture.write(bytes)
        #expect(throws: SpillFailure.limitReached) { try fixture.write(bytes) }
    }

    @Test func theFreeSpaceFloorIsKeptWithoutASystemCallForEveryChunk() throws {
        let disk = InMemoryFileSystem(capacity: .mebibytes(20))
        let faulty = FaultyFileSystem(wrapping: disk)
        let fixture = try SpillFixture(faulty, limits: SpillLimits(freeSpaceFloor: .mebibytes(10)))
        let bytes = Content.noise.bytes(262_144)
        var written = 0
        while (try? fixture.write(bytes, .stored, assurance: .taken)) != nil { written += 1 }
        #expect(throws: SpillFailure.floorReached) { try fixture.write(bytes) }
        #expect(disk.usedBytes <= .mebibytes(10))
        #expect(disk.usedBytes > .mebibytes(9))
        #expect(faulty.calls(.freeSpace) < written / 2)
        disk.capacity = .mebibytes(40)
        #expect(try fixture.read(fixture.write(bytes)) == bytes)
    }

    @Test func aFileSystemThatCannotPunchStillTruncatesAndReuses() throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        faulty.set(.init(.error(Errno.notSupported.rawValue), on: .punchHole))
        let bytes = Content.noise.bytes(262_144)
        let records = try (0..<3).map { _ in try fixture.write(bytes) }
        fixture.file.release(records[0])
        fixture.file.release(records[2])
        fixture.file.punchPending()
        let usage = fixture.file.usage()
        #expect(usage.pendingBytes == records[0].occupiedBytes)
        #expect(usage.fileBytes == 2 * 262_144)
        #expect(try fixture.write(bytes).unit == records[0].unit)
    }

    @Test func aTailThatCannotBeCutIsTriedAgain() throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty)
        let record = try fixture.write(Content.noise.bytes(262_144))
        fixture.file.release(record)
        faulty.set(.init(.error(Errno.ioError.rawValue), on: .truncate))
        fixture.file.punchPending()
        #expect(fixture.file.usage().pendingBytes == record.occupiedBytes)
        faulty.set(nil)
        fixture.file.punchPending()
        #expect(fixture.file.usage().pendingBytes == 0)
        #expect(fixture.file.usage().fileBytes == 0)
    }

    @Test func failedWritebackIsCounted() throws {
        let faulty = FaultyFileSystem.disk(.none)
        let fixture = try SpillFixture(faulty, limits: SpillLimits(freeSpaceFloor: .zero, bypassPageCache: true))
        faulty.set(.init(.error(Errno.ioError.rawValue), on: .writeback))
        let bytes = Content.noise.bytes(262_144)
        for _ in 0..<31 { _ = try fixture.write(bytes, .stored, assurance: .taken) }
        #expect(fixture.file.usage().writebackFailures == 0)
        _ = try fixture.write(bytes, .stored, assurance: .taken)
        #expect(fixture.file.usage().writebackFailures == 1)
        fixture.file.drainWriteback()
        #expect(fixture.file.usage().writebackFailures == 2)
    }

    @Test func failuresSayWhatToDoInWords() {
        let failures: [(SpillFailure, PressureError.Code, String)] = [
            (.limitReached, .diskFull, "spillLimit"), (.floorReached, .diskFull, "freeSpaceFloor"),
            (.writeFailed(.noSpace), .diskFull, "Free space"),
            (.writeFailed(.ioError), .spillFailed, "still in memory"),
            (.writebackFailed(.ioError), .spillFailed, "after it had taken a write"),
            (.notWritten, .spillFailed, "still in memory"), (.readFailed(.ioError), .restoreFailed, "copy is kept"),
            (.damaged(.checksumMismatch), .damagedCopy, "checksumMismatch"),
        ]
        for (failure, code, words) in failures {
            let error = failure.pressureError(path: "gallery/thumbnails")
            #expect(error.code == code)
            #expect(error.path == "gallery/thumbnails")
            #expect(error.message.contains(words), "\(error.message)")
        }
        let rebuilt = SpillFailure.readFailed(.ioError).pressureError(isReloadable: true)
        #expect(rebuilt.message.contains("loader makes the value again"), "\(rebuilt.message)")
    }
}
#endif
