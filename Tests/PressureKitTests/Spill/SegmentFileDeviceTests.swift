import Glibc
import PressureKitTestSupport
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

/// Values that nobody can make again are on the device before their memory goes.
@Suite struct SegmentFileDeviceTests {
    private func disk(_ support: InMemoryFileSystem.DirectSupport = .whole) -> FaultyFileSystem { .disk(support) }

    @Test(arguments: InMemoryFileSystem.DirectSupport.allCases, CompressionChoice.allCases)
    func everyLengthComesBackFromTheDevice(
        _ support: InMemoryFileSystem.DirectSupport,
        _ choice: CompressionChoice
    ) throws {
        let fixture = try SpillFixture(disk(support))
        for content in Content.allCases {
            for count in [1, 511, 4095, 4096, 4097, 100_000, 258_049, 262_144] {
                let bytes = content.bytes(count)
                let record = try fixture.write(bytes, choice)
                #expect(try fixture.read(record) == bytes)
                // What is behind the frame is ours, and whole.
                #expect(fixture.file.usage().fileBytes % 4096 == 0)
                fixture.file.release(record)
            }
        }
    }

    /// Bytes that begin with a page and end with one are not copied first.
    @Test func wholePagesAreWrittenFromWhereTheyAre() throws {
        let encoder = try ChunkEncoder()
        let pages = try ReservedPages(byteCount: 3 * 4096)
        let two = unsafe UnsafeRawBufferPointer(rebasing: pages.bytes[4096...])
        #expect(unsafe encoder.wholeUnits(of: two).baseAddress == two.baseAddress)
        let crooked = unsafe UnsafeRawBufferPointer(rebasing: pages.bytes[1..<4097])
        #expect(unsafe encoder.wholeUnits(of: crooked).baseAddress == UnsafeRawPointer(encoder.outputBytes.baseAddress))
        let short = unsafe UnsafeRawBufferPointer(rebasing: pages.bytes[..<5000])
        let units = unsafe encoder.wholeUnits(of: short)
        #expect(unsafe units.count == 8192 && units[5000...].allSatisfy { $0 == 0 })
    }

    @Test func itTakesNoPartInWriteBack() throws {
        let faulty = disk()
        let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: true, writebackWindow: 1 << 20)
        let fixture = try SpillFixture(faulty, limits: limits)
        for seed in UInt64(0)..<20 { _ = try fixture.write(Content.noise.bytes(262_144, seed: seed)) }
        fixture.file.drainWriteback()
        #expect(faulty.calls(.writeback) == 0)
    }

    @Test(arguments: [InMemoryFileSystem.DirectSupport.openOnly, .none])
    func whereItCannotBypassThePageCacheEachFrameIsWaitedFor(_ support: InMemoryFileSystem.DirectSupport) throws {
        let faulty = disk(support)
        let fixture = try SpillFixture(faulty)
        for seed in UInt64(0)..<3 { _ = try fixture.write(Content.noise.bytes(5000, seed: seed)) }
        #expect(faulty.calls(.writeback) == 3)
        // Refused once, not asked again.
        #expect(faulty.calls(.write) == (support == .openOnly ? 4 : 3))
    }

    @Test(arguments: InMemoryFileSystem.DirectSupport.allCases)
    func aLateFailureIsAFailedSpill(_ support: InMemoryFileSystem.DirectSupport) throws {
        let faulty = disk(support)
        let fixture = try SpillFixture(faulty)
        faulty.set(.init(.lateError(EIO), on: .write, .from(1)))
        #expect(throws: SpillFailure.writeFailed(.ioError)) { try fixture.write(Content.noise.bytes(5000)) }
        #expect(fixture.file.usage().occupiedBytes == 0)
        faulty.set(nil)
        let bytes = Content.noise.bytes(5000)
        #expect(try fixture.read(fixture.write(bytes)) == bytes)
    }

    /// The kernel tells of a failure once. Here it tells another, between this frame's write and its wait.
    @Test func aFailureThatAnotherIsToldOfMakesTheFrameSuspect() throws {
        let faulty = disk(.none)
        let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: true)
        let fixture = try SpillFixture(faulty, limits: limits)
        // So that there is a window to be drained.
        _ = try fixture.write(Content.noise.bytes(5000, seed: 2), assurance: .taken)
        faulty.set(.init(.lateError(EIO), on: .write, .once(1)))
        faulty.setFollower {
            faulty.setFollower(nil)
            // The kernel's own write-back comes by, and then another who waits.
            faulty.writeBack()
            fixture.file.drainWriteback()
        }
        #expect(throws: SpillFailure.writeFailed(.ioError)) { try fixture.write(Content.noise.bytes(5000)) }
        #expect(fixture.file.takeLateFailure() == .writebackFailed(.ioError))
    }

    /// A value that a loader makes: short frames go through the page cache, long ones past it where a limit counts that, and
    /// those are not waited for again.
    @Test(arguments: [true, false])
    func whatALoaderMakesBypassesThePageCacheUnderALimitIfItIsLong(bypasses: Bool) throws {
        let faulty = disk()
        let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: bypasses, writebackWindow: 512 << 10)
        let fixture = try SpillFixture(faulty, limits: limits)
        for seed in UInt64(0)..<8 {
            let bytes = Content.noise.bytes(262_144 - Int(seed), seed: seed)
            #expect(try fixture.read(fixture.write(bytes, .stored, assurance: .taken)) == bytes)
        }
        #expect(fixture.file.state.withLock { $0.window.underWay } == 0)
        fixture.file.drainWriteback()
        #expect(faulty.calls(.writeback) == 0)
        // What is refused is an error at once, and leaves nothing.
        let occupied = fixture.file.usage().occupiedBytes
        faulty.set(.init(.lateError(EIO), on: .write))
        let bytes = Content.noise.bytes(262_144)
        if bypasses {
            #expect(throws: SpillFailure.writeFailed(.ioError)) {
                try fixture.write(bytes, .stored, assurance: .taken)
            }
            #expect(fixture.file.usage().occupiedBytes == occupied)
        } else {
            _ = try fixture.write(bytes, .stored, assurance: .taken)
        }
        faulty.set(nil)
        let short = Content.noise.bytes(100_000)
        _ = try fixture.write(short, .stored, assurance: .taken)
        #expect(fixture.file.state.withLock { $0.window.underWay } == (bypasses ? short.count : 0))
    }

    @Test func aWindowThatFailsIsToldOfOnceAndDoubtedUntilSomethingSucceeds() throws {
        let faulty = disk(.none)
        let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: true, writebackWindow: 1 << 20)
        let fixture = try SpillFixture(faulty, limits: limits)
        let bytes = Content.noise.bytes(262_144)
        faulty.set(.init(.lateError(ENOSPC), on: .write, .from(1)))
        for _ in 0..<16 { _ = try fixture.write(bytes, .stored, assurance: .taken) }
        #expect(fixture.file.usage().writebackFailures == 3)
        #expect(fixture.file.takeLateFailure() == .writebackFailed(.noSpace))
        #expect(fixture.file.takeLateFailure() == nil)
        faulty.set(nil)
        _ = try fixture.write(bytes, .stored, assurance: .taken)
        #expect(fixture.file.isDoubtful)
        _ = try fixture.write(bytes, .stored)
        #expect(!fixture.file.isDoubtful)
    }

    /// A device that takes a write is not in doubt any more, whoever makes the value; that the page cache takes one says
    /// nothing.
    @Test func aLongWriteOfALoadersValueEndsTheDoubt() throws {
        let faulty = disk()
        let limits = SpillLimits(freeSpaceFloor: .zero, bypassPageCache: true, writebackWindow: 512 << 10)
        let fixture = try SpillFixture(faulty, limits: limits)
        faulty.set(.init(.lateError(EIO), on: .write))
        _ = try fixture.write(Content.noise.bytes(100_000), .stored, assurance: .taken)
        fixture.file.drainWriteback()
        #expect(fixture.file.isDoubtful)
        faulty.set(nil)
        _ = try fixture.write(Content.noise.bytes(100_000), .stored, assurance: .taken)
        #expect(fixture.file.isDoubtful)
        _ = try fixture.write(Content.noise.bytes(200_000), .stored, assurance: .taken)
        #expect(!fixture.file.isDoubtful)
    }
}
