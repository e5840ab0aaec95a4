import PressureSystem
import SpillStore

/// Where the values of a saved state are written. For one thread.
final class StateFrames {
    let file: SegmentFile
    let encoder: ChunkEncoder
    /// Values that could not be read where they are spilled: they are left out, and all others are saved.
    private(set) var failures: [PressureError] = []
    /// What becomes of the page cache.
    var visit: CacheVisit

    init(file: SegmentFile, encoder: ChunkEncoder, visit: CacheVisit) {
        self.file = file
        self.encoder = encoder
        self.visit = visit
    }

    /// Notes a chunk that was written.
    private func add(_ record: SpillRecord, to records: inout [SpillRecord]) throws(SpillFailure) {
        records.append(record)
        do {
            try visit.wrote(Int(record.storedLength))
        } catch {
            throw .writeFailed(error)
        }
    }

    /// Writes a value's bytes.
    func write(_ span: RawSpan) -> Result<[SpillRecord], SpillFailure> {
        // Valid for the call.
        unsafe span.withUnsafeBytes { bytes in
            var records: [SpillRecord] = []
            for index in 0..<SegmentFile.chunkCount(forByteCount: bytes.count) {
                let range = SegmentFile.chunkRange(index, ofByteCount: bytes.count)
                do throws(SpillFailure) {
                    // Within the value.
                    let chunk = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
                    try add(try unsafe file.write(chunk, with: encoder, assurance: .readBack), to: &records)
                } catch {
                    return .failure(error)
                }
            }
            return .success(records)
        }
    }

    /// Room for a chunk of bytes that have to be made first. As long as the writer.
    var pieceBytes: UnsafeMutableRawBufferPointer { unsafe encoder.pieceBytes }

    /// Writes a chunk of a value.
    func write(chunk: UnsafeRawBufferPointer, to records: inout [SpillRecord]) throws(SpillFailure) {
        try add(try unsafe file.write(chunk, with: encoder, assurance: .readBack), to: &records)
    }

    /// Gives back the chunks of a value that is left out.
    func discard(_ records: [SpillRecord]) {
        for record in records { file.release(record) }
    }

    /// Takes a copy over from a spill file as it is there, without unpacking it; `nil` when it cannot be read there.
    ///
    /// - Parameters:
    ///   - path: whose it is, for the report.
    ///   - isReloadable: whether a loader makes it again.
    func take(_ copy: SpillCopy, path: @autoclosure () -> String, isReloadable: Bool) throws -> [SpillRecord]? {
        guard let source = copy.file else { return [] }
        let decoder = try source.decoders.take()
        defer { source.decoders.giveBack(decoder) }
        decoder.use.begin()
        defer { decoder.use.end() }
        var records: [SpillRecord] = []
        for index in 0..<copy.chunkCount {
            guard let record = copy.record(index) else { return nil }
            let payload: UnsafeMutableRawBufferPointer
            do throws(SpillFailure) {
                unsafe payload = try source.payload(of: record, with: decoder)
            } catch {
                for record in records { file.release(record) }
                leaveOut(
                    error.pressureError(path: path(), server: source.fileSystem.server, isReloadable: isReloadable)
                )
                return nil
            }
            // In the decoder's memory, which is ours.
            try add(
                try unsafe file.take(UnsafeRawBufferPointer(payload), as: record, with: encoder),
                to: &records
            )
        }
        return records
    }

    /// Notes a value that is left out.
    func leaveOut(_ failure: PressureError) { failures.append(failure) }
}
