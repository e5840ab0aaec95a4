import Testing

@testable import PressureKit

@Suite struct FrameHeaderTests {
    private static let record = SpillRecord(
        generation: 0x0123_4567_89AB_CDEF,
        unit: 0xA1B2_C3D4,
        storedLength: 32 + 9,
        plainLength: 77,
        codec: .deflate
    )
    private static let payload = Array("123456789".utf8)

    private static func frame(_ record: SpillRecord = record, _ payload: [UInt8] = payload) -> [UInt8] {
        var header = [UInt8](repeating: 0xEE, count: FrameHeader.byteCount)
        // The arrays' bytes are only used for the length of the call.
        unsafe header.withUnsafeMutableBytes { header in
            unsafe payload.withUnsafeBytes { unsafe FrameHeader(record: record).seal($0, into: header) }
        }
        return header + payload
    }

    /// What checking a frame finds, `nil` for nothing.
    private static func damage(_ frame: [UInt8], _ record: SpillRecord = record) -> FrameDamage? {
        // As in `frame`; the split lies inside the frame.
        unsafe frame.withUnsafeBytes { bytes in
            let split = min(FrameHeader.byteCount, bytes.count)
            do throws(FrameDamage) {
                try unsafe FrameHeader.check(
                    UnsafeRawBufferPointer(rebasing: bytes[..<split]),
                    UnsafeRawBufferPointer(rebasing: bytes[split...]),
                    against: record
                )
                return nil
            } catch {
                return error
            }
        }
    }

    /// The layout is a file format: it may not change by accident.
    @Test func theLayoutIsTheOneDocumented() {
        let frame = Self.frame()
        #expect(Array(frame[0..<4]) == Array("PKfr".utf8))
        #expect(Array(frame[4..<8]) == [1, 1, 0, 0])
        #expect(Array(frame[8..<16]) == [0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01])
        #expect(Array(frame[16..<20]) == [0xD4, 0xC3, 0xB2, 0xA1])
        #expect(Array(frame[20..<24]) == [77, 0, 0, 0])
        #expect(Array(frame[24..<28]) == [41, 0, 0, 0])
        #expect(Self.damage(frame) == nil)
    }

    @Test func anEmptyPayloadIsAFrameToo() {
        let record = SpillRecord(generation: 1, unit: 0, storedLength: 32, plainLength: 0, codec: .stored)
        #expect(Self.damage(Self.frame(record, []), record) == nil)
    }

    @Test func everySingleBitFlipIsFound() {
        let frame = Self.frame()
        for bit in 0..<frame.count * 8 {
            var flipped = frame
            flipped[bit / 8] ^= 1 << (bit % 8)
            #expect(Self.damage(flipped) != nil, "bit \(bit)")
        }
    }

    @Test func everyTruncationIsFound() {
        let frame = Self.frame()
        for length in 0..<frame.count {
            #expect(Self.damage(Array(frame[..<length])) == .truncated, "length \(length)")
        }
        #expect(Self.damage(frame + [0]) == .truncated)
    }

    @Test(arguments: [
        (FrameDamage.otherGeneration, other(generation: 1)), (.misplaced, other(unit: 1)),
        (.contradiction, other(plainLength: 78)), (.contradiction, other(codec: .stored)),
    ])
    func aSoundFrameThatIsNotTheOneExpectedIsRefused(_ damage: FrameDamage, _ other: SpillRecord) {
        #expect(Self.damage(Self.frame(other)) == damage)
    }

    /// The record, with one thing different.
    private static func other(
        generation: UInt64 = record.generation,
        unit: UInt32 = record.unit,
        plainLength: UInt32 = record.plainLength,
        codec: Codec = record.codec
    ) -> SpillRecord {
        SpillRecord(
            generation: generation,
            unit: unit,
            storedLength: record.storedLength,
            plainLength: plainLength,
            codec: codec
        )
    }

    @Test func aHoleIsNotAFrame() {
        #expect(Self.damage([UInt8](repeating: 0, count: 41)) == .notAFrame)
    }

    @Test(arguments: [4, 5, 6, 7]) func anUnknownVersionOrCodecOrFlagIsRefused(_ offset: Int) {
        var frame = Self.frame()
        frame[offset] = 9
        #expect(Self.damage(frame) == .unknownFormat)
    }

    @Test func aRecordTakes24Bytes() {
        #expect(MemoryLayout<SpillRecord>.stride == 24)
        #expect(_isPOD(SpillRecord.self))
    }
}
