import CAllocationCounter
import Testing

@testable import PressureKit

@Suite struct CodecTests {
    private static func checksum(_ bytes: [UInt8], continuing start: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe Checksum.crc32($0, continuing: start) }
    }

    /// The check value of CRC-32/ISO-HDLC in the catalogue of parametrised CRC algorithms.
    @Test func theChecksumIsTheOneOfZlibAndGzip() {
        #expect(Self.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(Self.checksum([]) == 0)
    }

    @Test(arguments: Array(0...300) + [1000, 4096, 4097, 65_535, 262_144])
    func theChecksumOfPartsIsTheChecksumOfTheWhole(_ count: Int) {
        let bytes = Content.noise.bytes(count, seed: UInt64(count))
        // Bit by bit, from the definition.
        var expected: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            expected ^= UInt32(byte)
            for _ in 0..<8 { expected = expected >> 1 ^ (expected & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        expected ^= 0xFFFF_FFFF
        #expect(Self.checksum(bytes) == expected)
        for split in [0, 1, count / 3, count - 1, count] where 0...count ~= split {
            let head = Self.checksum(Array(bytes[..<split]))
            #expect(Self.checksum(Array(bytes[split...]), continuing: head) == expected)
        }
    }

    private static func encode(
        _ bytes: [UInt8],
        _ choice: CompressionChoice
    ) throws -> (codec: Codec, payload: [UInt8]) {
        let encoder = try ChunkEncoder()
        return unsafe bytes.withUnsafeBytes { plain in
            let encoded = unsafe encoder.encode(plain, choice)
            return unsafe (encoded.codec, Array(encoded.payload))
        }
    }

    private static func inflate(_ payload: [UInt8], _ count: Int) throws -> [UInt8]? {
        let inflater = try Inflater()
        var output = [UInt8](repeating: 0, count: count)
        let isSound = unsafe payload.withUnsafeBytes { payload in
            unsafe output.withUnsafeMutableBytes { unsafe inflater.inflate(payload, into: $0) }
        }
        return isSound ? output : nil
    }

    @Test(arguments: [
        (Content.zeros, Codec.deflate), (.text, .deflate), (.floats, .stored), (.noise, .stored),
        (.noiseThenText, .deflate),
    ])
    func theAdaptiveChoiceFollowsTheContent(_ content: Content, _ codec: Codec) throws {
        #expect(try Self.encode(content.bytes(256 << 10), .adaptive).codec == codec)
    }

    @Test(arguments: Content.allCases, [1, 4096, 4097, 16_383, 16_384, 100_001, 262_144])
    func whatIsDeflatedInflatesToTheSameBytesAndSavesAUnitAndATenth(_ content: Content, _ count: Int) throws {
        let bytes = content.bytes(count)
        for choice in CompressionChoice.allCases {
            let (codec, payload) = try Self.encode(bytes, choice)
            switch codec {
            case .stored: #expect(payload == bytes)
            case .deflate:
                #expect(choice != .stored)
                #expect(try Self.inflate(payload, count) == bytes)
                #expect(payload.count * 10 <= count * 9)
                #expect(
                    ExtentAllocator.units(forByteCount: payload.count)
                        < ExtentAllocator.units(forByteCount: count)
                )
            }
        }
    }

    /// A chunk that takes one unit anyway gains nothing from deflate but the time to inflate it.
    @Test func aChunkThatFitsOneUnitIsStored() throws {
        #expect(try Self.encode(Content.zeros.bytes(4096), .deflate).codec == .stored)
        #expect(try Self.encode(Content.zeros.bytes(4097), .deflate).codec == .deflate)
    }

    @Test func aStreamThatIsCutPaddedOrOfAnotherLengthIsRefused() throws {
        let bytes = Content.text.bytes(5000)
        let payload = try Self.encode(bytes, .deflate).payload
        #expect(try Self.inflate(payload, 5000) == bytes)
        #expect(try Self.inflate(payload + [0], 5000) == nil)
        #expect(try Self.inflate(payload, 4999) == nil)
        #expect(try Self.inflate(payload, 5001) == nil)
        for length in 0..<payload.count { #expect(try Self.inflate(Array(payload[..<length]), 5000) == nil) }
    }

    @Test func anInflaterIsAsGoodAsNewAfterGarbage() throws {
        let bytes = Content.text.bytes(70_000)
        let payload = try Self.encode(bytes, .deflate).payload
        let decoder = try ChunkDecoder()
        for seed in UInt64(1)...20 {
            var output = [UInt8](repeating: 0, count: bytes.count)
            unsafe Content.noise.bytes(payload.count, seed: seed).withUnsafeBytes { garbage in
                _ = unsafe output.withUnsafeMutableBytes { unsafe decoder.inflate(garbage, into: $0) }
            }
            let isSound = unsafe payload.withUnsafeBytes { payload in
                unsafe output.withUnsafeMutableBytes { unsafe decoder.inflate(payload, into: $0) }
            }
            #expect(isSound && output == bytes)
        }
    }

    @Test func entropyIsMeasuredInBitsOfAByte() {
        func entropy(_ bytes: [UInt8]) -> Double {
            unsafe bytes.withUnsafeBytes { unsafe CompressibilityProbe.sampledEntropy($0) }
        }
        #expect(entropy([]) == 0)
        #expect(entropy(Content.zeros.bytes(100_000)) == 0)
        #expect(abs(entropy((0..<4096).map { UInt8($0 % 2) }) - 1) < 0.001)
        #expect(abs(entropy((0..<4096).map { UInt8($0 % 256) }) - 8) < 0.001)
        #expect(entropy(Content.noise.bytes(262_144)) > 7.9)
        #expect(entropy(Content.text.bytes(262_144)) < 5)
    }

    /// The sample must reach both ends: half a chunk of noise is as telling first as last.
    @Test func theSampleIsSpreadOverTheWholeChunk() {
        let mixed = Content.noiseThenText.bytes(262_144)
        for bytes in [mixed, mixed.reversed()] {
            let entropy = unsafe bytes.withUnsafeBytes { unsafe CompressibilityProbe.sampledEntropy($0) }
            #expect(5.5..<7 ~= entropy)
        }
    }

    @Test(arguments: CompressionChoice.allCases)
    func encodingAndInflatingAllocateNothing(_ choice: CompressionChoice) throws {
        let encoder = try ChunkEncoder()
        let decoder = try ChunkDecoder()
        for content in Content.allCases {
            let bytes = content.bytes(262_144)
            var output = [UInt8](repeating: 0, count: bytes.count)
            let before = pk_thread_allocations()
            unsafe bytes.withUnsafeBytes { plain in
                let encoded = unsafe encoder.encode(plain, choice)
                if encoded.codec == .deflate {
                    _ = unsafe output.withUnsafeMutableBytes { unsafe decoder.inflate(encoded.payload, into: $0) }
                }
            }
            #expect(pk_thread_allocations() - before == 0, "\(content)")
        }
    }

    @Test func aSecondUserOfAnEncoderTraps() async {
        await #expect(processExitsWith: .failure) {
            let encoder = try ChunkEncoder()
            encoder.use.begin()
            encoder.use.begin()
        }
    }
}
