import CAllocationCounter
import Testing

@testable import PressureKit
@testable import SpillStore

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

    private static func unpack(_ payload: [UInt8], _ codec: Codec, _ count: Int) throws -> [UInt8]? {
        let decoder = try ChunkDecoder()
        var output = [UInt8](repeating: 0, count: count)
        let isSound = unsafe payload.withUnsafeBytes { payload in
            unsafe output.withUnsafeMutableBytes { unsafe decoder.unpack(payload, codec, into: $0) }
        }
        return isSound ? output : nil
    }

    @Test(arguments: [
        (Content.zeros, true), (.text, true), (.floats, false), (.noise, false), (.noiseThenText, true),
    ])
    func theAdaptiveChoiceFollowsTheContent(_ content: Content, isCompressed: Bool) throws {
        #expect(try (Self.encode(content.bytes(256 << 10), .adaptive).codec != .stored) == isCompressed)
    }

    @Test(arguments: Content.allCases, [1, 4096, 4097, 16_383, 16_384, 100_001, 262_144])
    func whatIsCompressedUnpacksToTheSameBytesAndSavesAUnitAndATenth(_ content: Content, _ count: Int) throws {
        let bytes = content.bytes(count)
        for choice in CompressionChoice.allCases {
            let (codec, payload) = try Self.encode(bytes, choice)
            if codec == .stored {
                #expect(payload == bytes)
            } else {
                #expect(choice != .stored)
                #expect(try Self.unpack(payload, codec, count) == bytes)
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

    @Test(arguments: CompressionChoice.allCases.filter { $0 != .stored })
    func aStreamThatIsCutPaddedOrOfAnotherLengthIsRefused(_ choice: CompressionChoice) throws {
        let bytes = Content.text.bytes(5000)
        let (codec, payload) = try Self.encode(bytes, choice)
        #expect(codec != .stored)
        #expect(try Self.unpack(payload, codec, 5000) == bytes)
        #expect(try Self.unpack(payload + [0], codec, 5000) == nil)
        #expect(try Self.unpack(payload, codec, 4999) == nil)
        #expect(try Self.unpack(payload, codec, 5001) == nil)
        for length in 0..<payload.count { #expect(try Self.unpack(Array(payload[..<length]), codec, 5000) == nil) }
    }

    @Test(arguments: CompressionChoice.allCases.filter { $0 != .stored })
    func aDecoderIsAsGoodAsNewAfterGarbage(_ choice: CompressionChoice) throws {
        let bytes = Content.text.bytes(70_000)
        let (codec, payload) = try Self.encode(bytes, choice)
        let decoder = try ChunkDecoder()
        for seed in UInt64(1)...20 {
            var output = [UInt8](repeating: 0, count: bytes.count)
            unsafe Content.noise.bytes(payload.count, seed: seed).withUnsafeBytes { garbage in
                _ = unsafe output.withUnsafeMutableBytes { unsafe decoder.unpack(garbage, codec, into: $0) }
            }
            let isSound = unsafe payload.withUnsafeBytes { payload in
                unsafe output.withUnsafeMutableBytes { unsafe decoder.unpack(payload, codec, into: $0) }
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
                _ = unsafe output.withUnsafeMutableBytes { output in
                    unsafe decoder.unpack(encoded.payload, encoded.codec, into: output)
                }
            }
            #expect(pk_thread_allocations() - before == 0, "\(content)")
        }
    }

    /// Codecs tell short and long inputs apart, and some keep less memory after a row of short ones.
    @Test(arguments: CompressionChoice.allCases)
    func longInputsAfterManyShortOnesAllocateNothing(_ choice: CompressionChoice) throws {
        let encoder = try ChunkEncoder()
        let decoder = try ChunkDecoder()
        let long = Content.text.bytes(262_144)
        let short = Content.text.bytes(4097)
        var output = [UInt8](repeating: 0, count: long.count)
        func allocations(_ bytes: [UInt8]) -> UInt64 {
            let before = pk_thread_allocations()
            unsafe bytes.withUnsafeBytes { plain in
                let encoded = unsafe encoder.encode(plain, choice)
                _ = unsafe output.withUnsafeMutableBytes { output in
                    // Not a slice, whose type would be made here, once for the process.
                    let part = unsafe UnsafeMutableRawBufferPointer(start: output.baseAddress, count: bytes.count)
                    return unsafe decoder.unpack(encoded.payload, encoded.codec, into: part)
                }
            }
            return pk_thread_allocations() - before
        }
        var sum = allocations(long)
        for _ in 0..<300 { sum += allocations(short) }
        sum += allocations(long)
        #expect(sum == 0)
    }

    #if Zstd
    @Test func withZstdTheAdaptiveChoiceUsesIt() throws {
        let bytes = Content.text.bytes(262_144)
        let adaptive = try Self.encode(bytes, .adaptive)
        let deflate = try Self.encode(bytes, .deflate)
        #expect(adaptive.codec == .zstd && deflate.codec == .deflate)
        #expect(adaptive.payload.count < deflate.payload.count * 12 / 10)
    }
    #endif

    @Test func aSecondUserOfAnEncoderTraps() async {
        await #expect(processExitsWith: .failure) {
            let encoder = try ChunkEncoder()
            encoder.use.begin()
            encoder.use.begin()
        }
    }
}
