import CAllocationCounter
import PressureKitTestSupport
import PressureKitTesting
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

@Suite struct SegmentFileBatchTests {
    /// Writes values in as many batches as it takes.
    private static func write(
        _ values: [[UInt8]],
        to fixture: SpillFixture,
        _ choice: CompressionChoice = .adaptive,
        assurance: SpillAssurance = .onDevice
    ) throws(SpillFailure) -> [SpillRecord] {
        var records: [SpillRecord] = []
        var index = 0
        while index < values.count {
            fixture.file.beginBatch(with: fixture.encoder)
            while index < values.count, append(values[index], fixture, choice) { index += 1 }
            try fixture.file.writeBatch(with: fixture.encoder, assurance: assurance)
            records += (0..<fixture.encoder.batchCount).map { fixture.encoder.batchRecord($0) }
        }
        return records
    }

    private static func append(_ bytes: [UInt8], _ fixture: SpillFixture, _ choice: CompressionChoice) -> Bool {
        // The array's bytes are only used for the length of the call.
        unsafe bytes.withUnsafeBytes { unsafe fixture.file.append($0, to: fixture.encoder, compress: choice) }
    }

    private static func values(_ count: Int, seed: UInt64 = 1, longest: Int = 16_384) -> [[UInt8]] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            let longest = index % 8 == 0 ? longest : 600
            let length = Int.random(in: 1...longest, using: &random)
            return Content.allCases[index % 5].bytes(length, seed: UInt64(index) &+ seed)
        }
    }

    @Test(arguments: CompressionChoice.allCases, [true, false])
    func everyValueOfABatchIsReadBack(_ choice: CompressionChoice, isReal: Bool) throws {
        let fixture = try SpillFixture(
            isReal ? LinuxFileSystem() : InMemoryFileSystem() as any FileSystem,
            frames: 2000
        )
        let values = Self.values(1500)
        let records = try Self.write(values, to: fixture, choice)
        #expect(records.count == values.count)
        #expect(Set(records).count == records.count && Set(records.map(\.generation)).count == records.count)
        for index in values.indices.reversed() {
            let found = try fixture.read(records[index])
            #expect(found == values[index], "value \(index)")
        }
    }

    /// The longest values that share a batch are the shortest that are given a trial, which must not touch the frames
    /// that lie in the batch already.
    @Test(arguments: CompressionChoice.allCases)
    func aTrialLeavesTheBatchAlone(_ choice: CompressionChoice) throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), frames: 600)
        let length = CompressibilityProbe.minimumTrialLength
        let values = (0..<60).map { Content.allCases[$0 % Content.allCases.count].bytes(length, seed: UInt64($0)) }
        let records = try Self.write(values, to: fixture, choice)
        for index in values.indices {
            let found = try fixture.read(records[index])
            #expect(found == values[index], "value \(index)")
        }
    }

    @Test func aBatchIsOneWriteAndOneRead() throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty, frames: 600)
        let values = (0..<300).map { Content.noise.bytes(100, seed: $0) }
        _ = try Self.write(values, to: fixture)
        #expect(faulty.calls(.write) == 1)
        // 300 frames of 100 bytes at steps of 128: 38,368 bytes, compared all at once.
        #expect(faulty.calls(.read) == 1)
    }

    /// 32 of them in a unit instead of one.
    @Test func smallFramesShareUnits() throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), frames: 600)
        let records = try Self.write((0..<320).map { Content.noise.bytes(128, seed: $0) }, to: fixture)
        let usage = fixture.file.usage()
        #expect(usage.occupiedBytes == 10 * 4096 && usage.frames == 320 && usage.storedBytes == 320 * 128)
        #expect(usage.allocatedBytes == usage.occupiedBytes)
        #expect(records.map(\.occupiedBytes).reduce(0, +) == usage.occupiedBytes)
    }

    @Test func compressedSmallFramesTakeLess() throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), frames: 600)
        let values = (0..<64).map { Content.text.bytes(2000, seed: $0) }
        let records = try Self.write(values, to: fixture, .adaptive)
        #expect(records.allSatisfy { $0.codec != .stored })
        #expect(fixture.file.usage().occupiedBytes <= 64 * 2000 / 2)
        for (record, value) in zip(records, values) { #expect(try fixture.read(record) == value) }
    }

    @Test func aUnitIsFreeWhenTheLastOfItsFramesIsReleased() throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), frames: 600)
        let records = try Self.write((0..<96).map { Content.noise.bytes(128, seed: $0) }, to: fixture)
        #expect(fixture.file.usage().occupiedBytes == 3 * 4096)
        for record in records[32..<63] { fixture.file.release(record) }
        #expect(fixture.file.usage().occupiedBytes == 3 * 4096)
        #expect(try fixture.read(records[63]) == Content.noise.bytes(128, seed: 63))
        fixture.file.release(records[63])
        #expect(fixture.file.usage().occupiedBytes == 2 * 4096)
        // The unit is used again, also by a frame that shares nothing.
        let bytes = Content.noise.bytes(4096, seed: 100)
        let record = try fixture.write(bytes)
        #expect(record.unit == records[32].unit)
        #expect(try fixture.read(record) == bytes)
        for record in records[..<32] + records[64...] { fixture.file.release(record) }
        fixture.file.release(record)
        #expect(fixture.file.usage().occupiedBytes == 0 && fixture.file.usage().storedBytes == 0)
    }

    /// A file in memory gives pages back with each release: those of a shared unit with the last of its frames only.
    @Test func inMemoryASharedPageIsGivenBackOnceAndLast() throws {
        let disk = InMemoryFileSystem()
        let limits = SpillLimits(freeSpaceFloor: .zero, returnsAtOnce: true)
        let fixture = try SpillFixture(disk, limits: limits, frames: 600)
        let values = (0..<96).map { Content.noise.bytes(128, seed: $0) }
        let records = try Self.write(values, to: fixture)
        for index in [Int](0..<31) + [Int](64..<96) { fixture.file.release(records[index]) }
        #expect(fixture.file.usage().occupiedBytes == 2 * 4096)
        #expect(fixture.file.usage().bytesReturned == 4096)
        for index in 31..<64 {
            let found = try fixture.read(records[index])
            #expect(found == values[index])
            fixture.file.release(records[index])
        }
        #expect(fixture.file.usage().occupiedBytes == 0 && fixture.file.usage().bytesReturned == 3 * 4096)
    }

    /// Fails the first call, then the second, and so on; after every failure the file is as it was.
    @Test(arguments: [Errno.noSpace, .ioError], [false, true])
    func anErrorAtAnyCallLeavesTheFileAsItWas(_ errno: Errno, isLasting: Bool) throws {
        let values = Self.values(400)
        var number = 0
        while true {
            number += 1
            let faulty = FaultyFileSystem(wrapping: InMemoryFileSystem())
            let fixture = try SpillFixture(faulty, limits: SpillLimits(freeSpaceFloor: .mebibytes(1)), frames: 2000)
            let kept = try Self.write(values, to: fixture)
            let before = fixture.file.usage()
            faulty.set(.init(.error(errno.rawValue), isLasting ? .from(number) : .once(number)))
            do throws(SpillFailure) {
                let records = try Self.write(Array(values.prefix(40)), to: fixture)
                for record in records { fixture.file.release(record) }
            } catch {
                #expect(error == .writeFailed(errno) || error == .readFailed(errno))
            }
            let struck = faulty.faults
            faulty.set(nil)
            let after = fixture.file.usage()
            #expect(after.frames == before.frames && after.occupiedBytes == before.occupiedBytes)
            #expect(after.storedBytes == before.storedBytes && after.plainBytes == before.plainBytes)
            for index in stride(from: 0, to: values.count, by: 37) {
                let found = try fixture.read(kept[index])
                #expect(found == values[index])
            }
            if struck == 0 { break }
        }
        #expect(number >= 3, "no call was struck: the test tests nothing")
    }

    @Test(arguments: [FaultyFileSystem.Operation.read, .write], [1, 2, 3])
    func shortTransfersAreContinued(_ operation: FaultyFileSystem.Operation, every period: Int) throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty, frames: 2000)
        faulty.set(.init(.short, on: operation, .every(period)))
        let values = Self.values(1500)
        let records = try Self.write(values, to: fixture)
        for (record, value) in zip(records, values) { #expect(try fixture.read(record) == value) }
        #expect(faulty.faults > 0)
    }

    @Test func aWriteThatLiesOrABitThatFlipsIsAFailedBatch() throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty, frames: 600)
        let values = Self.values(100)
        for fault in [
            FaultyFileSystem.Rule(.lyingWrite, on: .write, .once(1)), .init(.bitFlip, on: .read, .once(1)),
        ] {
            faulty.set(fault)
            #expect(throws: SpillFailure.notWritten) { try Self.write(values, to: fixture) }
            #expect(fixture.file.usage().occupiedBytes == 0 && fixture.file.usage().frames == 0)
        }
    }

    /// Each frame has its own checksum: what reached the file can be read.
    @Test func anUnverifiedLieCostsOnlyTheFramesItHit() throws {
        let faulty = FaultyFileSystem()
        let fixture = try SpillFixture(faulty, frames: 600)
        let values = Self.values(100)
        faulty.set(.init(.lyingWrite, on: .write, .once(1)))
        let records = try Self.write(values, to: fixture, assurance: .taken)
        faulty.set(nil)
        let found = records.map { try? fixture.read($0) }
        let sound = zip(found, values).filter { $0 == $1 }.count
        #expect(sound > 0 && sound < values.count)
        #expect(found.compactMap { $0 }.count == sound, "what is read is right")
    }

    @Test func theCapIsKept() throws {
        let fixture = try SpillFixture(
            InMemoryFileSystem(),
            limits: SpillLimits(maximumBytes: .kibibytes(64), freeSpaceFloor: .zero)
        )
        let values = (0..<40).map { Content.noise.bytes(2000, seed: $0) }
        #expect(throws: SpillFailure.limitReached) { try Self.write(values, to: fixture) }
        #expect(fixture.file.usage().occupiedBytes == 0)
        #expect(try Self.write(Array(values.prefix(32)), to: fixture).count == 32)
    }

    /// When no more units can be shared, batches are still written, each frame in units of its own.
    @Test func moreSharedUnitsThanTheTableHoldsAreNotShared() throws {
        let fixture = try SpillFixture(InMemoryFileSystem(), frames: 40_000)
        let bytes = Content.noise.bytes(2048)
        let values = [[UInt8]](repeating: bytes, count: 2 * SharedUnits.size)
        let records = try Self.write(values, to: fixture, .stored, assurance: .taken)
        let shared = records.filter(\.isShared).count
        #expect(shared > SharedUnits.size && shared <= SharedUnits.size * 3 / 2)
        #expect(fixture.file.usage().occupiedBytes == (shared / 2 + records.count - shared) * 4096)
        for index in stride(from: 0, to: records.count, by: 997) { #expect(try fixture.read(records[index]) == bytes) }
        for record in records { fixture.file.release(record) }
        #expect(fixture.file.usage().occupiedBytes == 0)
    }

    @Test func anAbandonedBatchLeavesNothing() throws {
        let disk = InMemoryFileSystem()
        let fixture = try SpillFixture(disk)
        for _ in 0..<1000 {
            fixture.file.beginBatch(with: fixture.encoder)
            _ = Self.append([1, 2, 3], fixture, .stored)
            fixture.file.abandonBatch(with: fixture.encoder)
        }
        fixture.file.beginBatch(with: fixture.encoder)
        try fixture.file.writeBatch(with: fixture.encoder)
        #expect(fixture.encoder.batchCount == 0)
        #expect(fixture.file.usage() == SpillUsage(allocatedBytesOfEmptyFile: 0))
        // The encoder is free again, and promises came back: frames still share.
        let records = try Self.write([[1], [2]], to: fixture)
        #expect(records[0].isShared && records[0].unit == records[1].unit)
    }

    @Test(arguments: CompressionChoice.allCases, [true, false])
    func batchesAllocateNothing(_ choice: CompressionChoice, bypassesPageCache: Bool) throws {
        let limits = SpillLimits(freeSpaceFloor: .mebibytes(1), bypassPageCache: bypassesPageCache)
        let fixture = try SpillFixture(LinuxFileSystem(), limits: limits, frames: 4000)
        try fixture.file.rehearse(with: fixture.encoder, fixture.decoder)
        let values = Self.values(300, longest: 9000)
        var records = [SpillRecord?](repeating: nil, count: values.count)
        func round() throws(SpillFailure) {
            var index = 0
            while index < values.count {
                let first = index
                fixture.file.beginBatch(with: fixture.encoder)
                while index < values.count, Self.append(values[index], fixture, choice) { index += 1 }
                try fixture.file.writeBatch(with: fixture.encoder)
                var done = 0
                while done < fixture.encoder.batchCount {
                    records[first + done] = fixture.encoder.batchRecord(done)
                    done += 1
                }
            }
            index = 0
            while index < values.count {
                fixture.file.release(records[index]!)
                index += 1
            }
        }
        // What the runtime builds on first use.
        try round()
        let before = pk_thread_allocations()
        try round()
        #expect(pk_thread_allocations() - before == 0)
    }
}

extension SpillUsage {
    fileprivate init(allocatedBytesOfEmptyFile bytes: Int) {
        self.init()
        allocatedBytes = bytes
    }
}
