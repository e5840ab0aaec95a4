import Testing

@testable import PressureKit
@testable import SpillStore

@Suite struct SpillRecordTests {
    @Test(arguments: [0, 1, 65_535, 65_536, 262_144, 1 << 23 - 1] as [UInt32])
    func aRecordIsSmallAndTrivial(_ length: UInt32) {
        let record = SpillRecord(
            generation: 1,
            unit: .max,
            storedLength: length,
            plainLength: 1 << 24 - 1,
            codec: .deflate,
            checksum: 9,
            grain: 127,
            isShared: true
        )
        #expect(record.storedLength == length)
        #expect(record.generation == 1 && record.unit == .max && record.plainLength == 1 << 24 - 1)
        #expect(record.codec == .deflate && record.checksum == 9 && record.isShared)
        #expect(record.offset == Int64(UInt32.max) * 4096 + 127 * 32)
        let size = 24 + MemoryLayout<FrameSeal>.size
        #expect(MemoryLayout<SpillRecord>.stride == size && MemoryLayout<SpillRecord?>.size == size)
        #if Encryption
        #expect(size == 40)
        #else
        #expect(size == 24)
        #endif
        #expect(_isPOD(SpillRecord.self))
    }

    @Test func aLengthOfMoreThan23BitsTraps() async {
        await #expect(processExitsWith: .failure) {
            _ = SpillRecord(generation: 1, unit: 0, storedLength: 1 << 23, plainLength: 1, codec: .stored)
        }
    }
}
