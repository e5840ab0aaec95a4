import PressureKitTesting
import SystemPackage

@testable import PressureKit
@testable import SpillStore

extension FuzzTarget {
    /// Frames. The first byte says what the others are: a payload that somebody else has made, or a value that the library
    /// writes and of which something is changed then.
    static let frame = FuzzTarget(name: "frame") { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        do {
            switch input.byte() {
            case UInt8(ascii: "w"): try written(&input)
            case UInt8(ascii: "b"): try batch(&input)
            default: try foreign(&input)
            }
        } catch let failure as FuzzFailure {
            throw failure
        } catch {
            throw FuzzFailure(description: "\(error)")
        }
    }

    /// A payload as it comes, under a record that says anything about it: refused, or as long as was said; and what was
    /// read can be written and read again.
    private static func foreign(_ input: inout FuzzInput) throws {
        let bench = try FrameBench.shared.get()
        let codec = Codec(rawValue: input.byte() % 3) ?? .deflate
        let isSound = input.byte() & 1 == 0
        let plainLength = UInt32(input.number() % UInt32(SegmentFile.chunkSize + 1))
        let payload = input.bytes()
        guard !payload.isEmpty, payload.count <= SegmentFile.chunkSize, plainLength > 0 else { return }
        let sum = StateTrailer.checksum(payload[...])
        let record = SpillRecord(
            generation: 1,
            unit: 0,
            storedLength: UInt32(payload.count),
            plainLength: plainLength,
            codec: codec,
            checksum: isSound ? sum : ~sum
        )
        let result = bench.read(record, of: payload)
        guard case .success(let plain) = result else {
            // Of what is as long as it should be and has the right checksum, only compressed bytes can be wrong.
            let isWhole = codec == .stored && isSound && Int(plainLength) == payload.count
            return try hold(!isWhole, "a sound frame is refused: \(record), \(result)")
        }
        try hold(isSound, "a wrong checksum is not noticed: \(record)")
        if codec == .stored { try hold(plain == payload, "other bytes than are stored: \(record)") }
        for choice in CompressionChoice.allCases {
            let (record, stored) = try bench.write(plain, choice)
            try hold(Int(record.storedLength) <= plain.count, "a frame grows to \(record.storedLength) bytes")
            try hold(try bench.read(record, of: stored).get() == plain, "written and read again with \(choice)")
        }
    }

    /// A value that is written, and of whose frame one bit is changed, or some of the end cut off: always noticed.
    private static func written(_ input: inout FuzzInput) throws {
        let bench = try FrameBench.shared.get()
        let choice = CompressionChoice.allCases[Int(input.byte()) % CompressionChoice.allCases.count]
        let (place, cut) = (Int(input.number()), Int(input.byte()))
        let plain = input.bytes()
        guard !plain.isEmpty, plain.count <= SegmentFile.chunkSize else { return }
        let (record, stored) = try bench.write(plain, choice)
        try hold(try bench.read(record, of: stored).get() == plain, "it does not come back: \(record)")
        var changed = stored
        changed[place / 8 % stored.count] ^= 1 << UInt8(place % 8)
        try hold(bench.read(record, of: changed).isDamage, "a bit is not noticed: \(record)")
        let short = Array(stored.dropLast(1 + cut % stored.count))
        try hold(bench.read(record, of: short).isDamage, "a short frame is not noticed: \(record)")
    }

    /// Some values in one batch: each comes back.
    private static func batch(_ input: inout FuzzInput) throws {
        let bench = try FrameBench.shared.get()
        let parts = input.bytes().split(separator: 0xFF, maxSplits: 31).map(Array.init)
        let values = parts.filter { !$0.isEmpty && $0.count <= SegmentFile.longestBatched }
        guard !values.isEmpty else { return }
        for (record, value) in zip(try bench.writeBatch(values), values) {
            try hold(bench.readFile(record).map { $0 == value } == .success(true), "it does not come back: \(record)")
            bench.file.release(record)
        }
    }
}

/// A spill file in memory, and what writes and reads it: made once, since each has much scratch.
private struct FrameBench: Sendable {
    static let shared = Result { try FrameBench() }

    let disk = InMemoryFileSystem()
    let file: SegmentFile
    private let encoder: ChunkEncoder
    private let decoder: ChunkDecoder

    init() throws {
        let directory = try SpillDirectory.choose(
            option: "/var/tmp",
            environment: [:],
            fileSystem: disk,
            allowsRAM: false
        )
        file = try SegmentFile(directory: directory, fileSystem: disk, limits: SpillLimits(freeSpaceFloor: .zero))
        file.reserve(frames: 64)
        encoder = try ChunkEncoder()
        decoder = try ChunkDecoder()
    }

    /// Writes a value, and takes it from the file again: its record as if it lay at the beginning, and its frame.
    func write(_ plain: [UInt8], _ choice: CompressionChoice) throws -> (record: SpillRecord, stored: [UInt8]) {
        // The array's bytes are only used for the length of the call.
        let record = try unsafe plain.withUnsafeBytes { try unsafe file.write($0, with: encoder, compress: choice) }
        let start = Int(record.offset)
        let stored = Array(disk.contents(file.descriptor)[start..<start + Int(record.storedLength)])
        file.release(record)
        let moved = SpillRecord(
            generation: record.generation,
            unit: 0,
            storedLength: record.storedLength,
            plainLength: record.plainLength,
            codec: record.codec,
            checksum: record.checksum
        )
        return (moved, stored)
    }

    func writeBatch(_ values: [[UInt8]]) throws -> [SpillRecord] {
        file.beginBatch(with: encoder)
        for value in values {
            // As in `write`. What has no room begins another batch; here it is left out.
            guard unsafe value.withUnsafeBytes({ unsafe file.append($0, to: encoder) }) else { break }
        }
        let count = encoder.batchCount
        try file.writeBatch(with: encoder)
        return (0..<count).map { encoder.batchRecord($0) }
    }

    /// What a record that lies at the beginning reads of a file with these bytes and no others.
    func read(_ record: SpillRecord, of bytes: [UInt8]) -> Result<[UInt8], SpillFailure> {
        disk.setContents(bytes, named: "/var/tmp/frame")
        guard let descriptor = try? disk.openNamed("/var/tmp/frame", creates: false) else {
            return .failure(.readFailed(.noSuchFileOrDirectory))
        }
        // Closes it.
        let file = SegmentFile(adopting: descriptor, fileSystem: disk, limits: SpillLimits(), isReadOnly: true)
        return read(record, from: file)
    }

    func readFile(_ record: SpillRecord) -> Result<[UInt8], SpillFailure> { read(record, from: file) }

    private func read(_ record: SpillRecord, from file: SegmentFile) -> Result<[UInt8], SpillFailure> {
        var bytes = [UInt8](repeating: 0xAA, count: Int(record.plainLength))
        let result = unsafe bytes.withUnsafeMutableBytes { plain in
            // As in `write`.
            Result { () throws(SpillFailure) in try unsafe file.read(record, into: plain, with: decoder) }
        }
        return result.map { bytes }
    }
}

extension Result<[UInt8], SpillFailure> {
    /// Whether it is a report of damage.
    fileprivate var isDamage: Bool {
        if case .failure(.damaged) = self { return true }
        return false
    }
}
