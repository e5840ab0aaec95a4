/// The 32 bytes before every payload in a spill file, little-endian:
///
/// | offset | bytes | what |
/// |---|---|---|
/// | 0 | 4 | magic, `"PKfr"` |
/// | 4 | 1 | version, 1 |
/// | 5 | 1 | codec |
/// | 6 | 2 | zero |
/// | 8 | 8 | generation |
/// | 16 | 4 | unit: where in the file the frame belongs, so that one written to the wrong place is known |
/// | 20 | 4 | plain length |
/// | 24 | 4 | stored length, this header included |
/// | 28 | 4 | CRC-32 of the 28 bytes above and the payload |
///
/// Pure: bytes in, values and verdicts out.
struct FrameHeader: Hashable, Sendable {
    static let byteCount = 32
    static let magic: UInt32 = 0x7266_4B50
    static let version: UInt8 = 1
    private static let checkedCount = 28

    var record: SpillRecord

    /// Writes the header of `payload` to the first 32 bytes of `bytes`, checksum and all.
    func seal(_ payload: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) {
        // Every store below ends within the 32 bytes asserted here.
        precondition(bytes.count >= Self.byteCount)
        unsafe bytes.storeBytes(of: Self.magic.littleEndian, as: UInt32.self)
        unsafe bytes.storeBytes(of: Self.version, toByteOffset: 4, as: UInt8.self)
        unsafe bytes.storeBytes(of: record.codec.rawValue, toByteOffset: 5, as: UInt8.self)
        unsafe bytes.storeBytes(of: 0, toByteOffset: 6, as: UInt16.self)
        unsafe bytes.storeBytes(of: record.generation.littleEndian, toByteOffset: 8, as: UInt64.self)
        unsafe bytes.storeBytes(of: record.unit.littleEndian, toByteOffset: 16, as: UInt32.self)
        unsafe bytes.storeBytes(of: record.plainLength.littleEndian, toByteOffset: 20, as: UInt32.self)
        unsafe bytes.storeBytes(of: record.storedLength.littleEndian, toByteOffset: 24, as: UInt32.self)
        let checksum = unsafe Self.checksum(UnsafeRawBufferPointer(bytes), payload)
        unsafe bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 28, as: UInt32.self)
    }

    /// Whether `bytes` and `payload` are, to the last bit, the frame that `record` describes.
    ///
    /// - Throws: what differs, the most telling difference first.
    static func check(
        _ bytes: UnsafeRawBufferPointer,
        _ payload: UnsafeRawBufferPointer,
        against record: SpillRecord
    ) throws(FrameDamage) {
        guard bytes.count + payload.count == Int(record.storedLength), bytes.count == byteCount else {
            throw .truncated
        }
        // Every load below ends within the 32 bytes asserted here.
        guard unsafe UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == magic else { throw .notAFrame }
        guard unsafe bytes[4] == version, unsafe bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self) == 0 else {
            throw .unknownFormat
        }
        guard let codec = unsafe Codec(rawValue: bytes[5]) else { throw .unknownFormat }
        let found = unsafe SpillRecord(
            generation: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            unit: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
            storedLength: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)),
            plainLength: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)),
            codec: codec
        )
        guard found.generation == record.generation else { throw .otherGeneration }
        guard found.unit == record.unit else { throw .misplaced }
        guard found == record else { throw .contradiction }
        let sealed = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self))
        guard unsafe checksum(bytes, payload) == sealed else { throw .checksumMismatch }
    }

    private static func checksum(_ bytes: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer) -> UInt32 {
        let head = unsafe Checksum.crc32(UnsafeRawBufferPointer(rebasing: bytes[..<checkedCount]))
        return unsafe Checksum.crc32(payload, continuing: head)
    }
}

/// What is wrong with a frame that was read.
package enum FrameDamage: Error, Hashable, Sendable, CaseIterable {
    /// The file ends before the frame does.
    case truncated
    /// The bytes do not begin like a frame: a hole, or somebody else's data.
    case notAFrame
    /// A version or codec this code does not write.
    case unknownFormat
    /// A frame, but one that was written earlier or later than the one expected.
    case otherGeneration
    /// A frame that belongs elsewhere in the file.
    case misplaced
    /// Lengths or codec differ from the record kept in memory.
    case contradiction
    /// The checksum does not match the bytes.
    case checksumMismatch
    /// The payload matches its checksum but does not inflate to the plain length.
    case badPayload
}
