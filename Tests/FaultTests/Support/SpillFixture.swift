import PressureKitTesting

@testable import PressureKit
@testable import SpillStore

/// A segment file on a disk in memory, with an encoder and a decoder for the test's own thread.
struct SpillFixture {
    let disk = InMemoryFileSystem()
    let file: SegmentFile
    let encoder: ChunkEncoder
    let decoder: ChunkDecoder

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

    func write(_ bytes: [UInt8], _ choice: CompressionChoice = .adaptive) throws -> SpillRecord {
        // The array's bytes are only used for the length of the call.
        try unsafe bytes.withUnsafeBytes { try unsafe file.write($0, with: encoder, compress: choice) }
    }

    /// Small values in one batch: their records.
    func writeBatch(_ values: [[UInt8]]) throws -> [SpillRecord] {
        file.beginBatch(with: encoder)
        for value in values {
            // As in `write`.
            let isAppended = unsafe value.withUnsafeBytes { unsafe file.append($0, to: encoder) }
            precondition(isAppended, "the batch is full")
        }
        try file.writeBatch(with: encoder)
        return values.indices.map { encoder.batchRecord($0) }
    }

    /// The bytes a record describes, or why there are none.
    func read(_ record: SpillRecord) -> Result<[UInt8], SpillFailure> {
        var bytes = [UInt8](repeating: 0xAA, count: Int(record.plainLength))
        do throws(SpillFailure) {
            // As in `write`.
            let result = unsafe bytes.withUnsafeMutableBytes { plain in
                Result { () throws(SpillFailure) in try unsafe file.read(record, into: plain, with: decoder) }
            }
            try result.get()
            return .success(bytes)
        } catch {
            return .failure(error)
        }
    }

    /// The bytes of a frame as they lie in the file.
    func stored(_ record: SpillRecord) -> [UInt8] {
        let start = Int(record.offset)
        return Array(disk.contents(file.descriptor)[start..<start + Int(record.storedLength)])
    }

    /// Puts bytes in the place of a frame, behind the library's back.
    func overwrite(_ record: SpillRecord, with bytes: [UInt8]) {
        disk.overwrite(file.descriptor, at: Int(record.offset), with: bytes)
    }
}

extension Result<[UInt8], SpillFailure> {
    /// Whether it is a report of damage.
    var isDamage: Bool {
        if case .failure(.damaged) = self { return true }
        return false
    }
}
