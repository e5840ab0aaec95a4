import Foundation
import PressureKit
import SystemPackage
import Testing

@testable import pressuresim

@Suite struct SimulatedDiskTests {
    private let clock = VirtualClock()

    private var elapsed: Duration { clock.now() - VirtualClock.origin }

    private func disk(seed: UInt64 = 1) -> SimulatedDisk {
        SimulatedDisk(time: VirtualDiskTime(clock: clock), isImagined: true, seed: seed)
    }

    /// Opens a nameless file for the length of `body`.
    private func withFile(_ disk: SimulatedDisk, _ body: (CInt) throws -> Void) throws {
        let descriptor = try disk.openTemporary(in: FileManager.default.temporaryDirectory.path)
        defer { disk.close(descriptor) }
        try body(descriptor)
    }

    private func write(_ disk: SimulatedDisk, _ descriptor: CInt, at offset: Int64, _ count: Int) throws -> Int {
        let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        return try unsafe [UInt8](repeating: 7, count: count).withUnsafeBytes {
            try unsafe disk.write(descriptor, at: offset, from: $0, nothing)
        }
    }

    private func read(_ disk: SimulatedDisk, _ descriptor: CInt, at offset: Int64, _ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try unsafe bytes.withUnsafeMutableBytes {
            try unsafe disk.read(descriptor, at: offset, into: $0, UnsafeMutableRawBufferPointer(start: nil, count: 0))
        }
        return Array(bytes.prefix(done))
    }

    @Test func aRequestTakesItsLatencyAndItsBytes() throws {
        let disk = disk()
        disk.condition = DiskCondition(readRate: 4e6, writeRate: 1e6, latency: .milliseconds(1))
        try withFile(disk) { (file: CInt) throws in
            #expect(try write(disk, file, at: 0, 8000) == 8000)
            #expect(elapsed == .milliseconds(9))
            #expect(try read(disk, file, at: 0, 8000) == [UInt8](repeating: 7, count: 8000))
            #expect(elapsed == .milliseconds(12))
        }
        #expect(disk.traffic == .init(bytesRead: 8000, bytesWritten: 8000, requests: 2, refused: 0))
    }

    @Test func aFullDiskTakesNothingMoreAndGivesWhatItHas() throws {
        let disk = disk()
        try withFile(disk) { (file: CInt) throws in
            _ = try write(disk, file, at: 0, 4096)
            disk.condition.isFull = true
            #expect(throws: Errno.noSpace) { try write(disk, file, at: 4096, 1) }
            #expect(try disk.freeSpace(file) == 0)
            #expect(try read(disk, file, at: 0, 2) == [7, 7])
            disk.condition = disk.usual
            #expect(try write(disk, file, at: 4096, 1) == 1)
            #expect(disk.traffic.refused == 1)
        }
    }

    @Test func aShareOfTheWritesFailsTheSameOnesForASeed() throws {
        func failures(seed: UInt64) throws -> [Int] {
            let disk = disk(seed: seed)
            disk.condition.failingWrites = 0.3
            var failed: [Int] = []
            try withFile(disk) { (file: CInt) throws in
                for index in 0..<1000 {
                    do { _ = try write(disk, file, at: 0, 1) } catch Errno.ioError { failed.append(index) }
                }
            }
            return failed
        }
        let first = try failures(seed: 3)
        #expect(250...350 ~= first.count)
        #expect(try failures(seed: 3) == first)
        #expect(try failures(seed: 4) != first)
    }

    @Test func aPlaceThatIsBadStaysBad() throws {
        let disk = disk()
        disk.condition.failingReads = 0.5
        try withFile(disk) { (file: CInt) throws in
            _ = try write(disk, file, at: 0, 100 * 4096)
            func isBad(_ place: Int) -> Bool { (try? read(disk, file, at: Int64(place) * 4096, 1)) == nil }
            let bad = (0..<100).filter(isBad)
            #expect(30...70 ~= bad.count)
            #expect((0..<100).filter(isBad) == bad)
        }
    }

    /// What the machine's file system would say of blocks depends on when it allocates them; this depends on nothing.
    @Test func blocksAreCountedByWhatWasWritten() throws {
        let disk = disk()
        try withFile(disk) { (file: CInt) throws in
            #expect(try disk.usage(file) == FileUsage(size: 0, allocated: 0))
            _ = try write(disk, file, at: 8192, 1)
            #expect(try disk.usage(file) == FileUsage(size: 8193, allocated: 4096))
            #expect(try disk.freeSpace(file) == UInt64(SimulatedDisk.imaginedSize - 4096))
            try disk.punchHole(file, at: 8192, count: 4096)
            #expect(try disk.usage(file).allocated == 0)
        }
        #expect(disk.allocatedBytes == 0)
    }

    /// Virtual time is the same where the only place to write is memory.
    @Test func everyDirectoryIsOnADisk() throws {
        let facts = try disk().directoryFacts("/dev/shm")
        #expect(facts.isDirectory && facts.magic == 0xEF53 && facts.device == nil)
    }

    @Test func slowIsNeverFasterThanUsual() {
        #expect(DiskCondition.imagined.slowed(to: 1e9).readRate == 125e6)
        #expect(DiskCondition.imagined.slowed(to: 1e6).writeRate == 1e6)
        #expect(DiskCondition.asItIs.slowed(to: 1e6).readRate == 1e6)
    }
}
