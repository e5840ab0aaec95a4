import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// Bytes of one kind each, as values come in.
enum Content: String, CaseIterable, Sendable {
    case zeros, text, floats, noise, noiseThenText

    /// `count` bytes, the same for the same seed.
    func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        switch self {
        case .zeros: return [UInt8](repeating: 0, count: count)
        case .text:
            let words = ["pressure ", "reclaim ", "the ", "of ", "memory ", "cache ", "spill ", "restore ", "a ", "\n"]
            var bytes: [UInt8] = []
            while bytes.count < count { bytes += words.randomElement(using: &random)!.utf8 }
            return Array(bytes.prefix(count))
        case .floats:
            // Full 52-bit mantissas under a few exponents: what deflate earns little on.
            var bytes: [UInt8] = []
            while bytes.count < count {
                let value = Double.random(in: 1..<2, using: &random)
                // The value's bytes are copied at once.
                unsafe withUnsafeBytes(of: value) { unsafe bytes += $0 }
            }
            return Array(bytes.prefix(count))
        case .noise:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + 8)
            // As above.
            while bytes.count < count { unsafe withUnsafeBytes(of: random.next()) { unsafe bytes += $0 } }
            return Array(bytes.prefix(count))
        case .noiseThenText:
            let half = count / 2
            return Content.noise.bytes(half, seed: seed) + Content.text.bytes(count - half, seed: seed)
        }
    }
}

extension FaultyFileSystem {
    /// A disk in memory that takes writes past the page cache, or does not.
    static func disk(_ support: InMemoryFileSystem.DirectSupport) -> FaultyFileSystem {
        let base = InMemoryFileSystem()
        base.setDirectSupport(support)
        return FaultyFileSystem(wrapping: base)
    }
}

/// A segment file with an encoder and a decoder for the test's own thread.
final class SpillFixture: Sendable {
    let file: SegmentFile
    let encoder: ChunkEncoder
    let decoder: ChunkDecoder

    init(
        _ fileSystem: any FileSystem,
        limits: SpillLimits = SpillLimits(freeSpaceFloor: .zero),
        frames: Int = 64,
        cipher: SpillCipher? = nil
    ) throws {
        let directory = try SpillDirectory.choose(
            option: "/var/tmp",
            environment: [:],
            fileSystem: fileSystem,
            allowsRAM: false
        )
        file = try SegmentFile(directory: directory, fileSystem: fileSystem, limits: limits, cipher: cipher)
        file.reserve(frames: frames)
        encoder = try ChunkEncoder()
        decoder = try ChunkDecoder()
    }

    func write(
        _ bytes: [UInt8],
        _ choice: CompressionChoice = .adaptive,
        assurance: SpillAssurance = .onDevice
    ) throws -> SpillRecord {
        // The array's bytes are only used for the length of the call.
        try unsafe bytes.withUnsafeBytes { plain in
            try unsafe file.write(plain, with: encoder, compress: choice, assurance: assurance)
        }
    }

    func read(_ record: SpillRecord) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: Int(record.plainLength))
        // As in `write`.
        try unsafe bytes.withUnsafeMutableBytes { plain in
            try unsafe file.read(record, into: plain, with: decoder)
        }
        return bytes
    }
}
