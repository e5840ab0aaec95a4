import SpillStore
import Synchronization

/// Values whose bytes are made when they are copied.
extension ChunkCopier {
    /// Has a value make its bytes, and writes each chunk as soon as it is full: no more than one is in memory. How many
    /// bytes there are is known, and noted, only when the last is written.
    ///
    /// Blocks. Encoding allocates, and so does noting the chunks.
    func encode(
        _ entry: CacheEntry,
        _ slot: UnsafeMutableRawPointer,
        with encoder: ChunkEncoder,
        for purpose: CodecChoice.Purpose
    ) -> Result {
        let assurance = unsafe Self.assurance(for: entry.header(slot).pointee.state)
        // The slot is being copied, so its copy is ours; `beginCopy` has said where it goes.
        let target = unsafe entry.copy(slot).pointee.file ?? file
        var result = Result()
        var records: [SpillRecord] = []
        // The encoder is this thread's, and so is its memory.
        let writer = unsafe SpillWriter(piece: encoder.pieceBytes) { plain in
            do throws(SpillFailure) {
                let record = try unsafe write(plain, to: target, encoder, entry, assurance, purpose, &result)
                records.append(record)
                // What is in memory either way must at least become smaller.
                if target.isInMemory, record.occupiedBytes > plain.count * 9 / 10 { throw .notCompressible }
            } catch {
                result.failure = error
                throw error
            }
        }
        do {
            try unsafe entry.writeSpillBytes(slot, to: writer)
            // A value that has swallowed what was thrown has not passed all its bytes.
            if result.failure == nil { try writer.finish() }
        } catch {
            if result.failure == nil { result.failure = .valueNotPassed }
        }
        guard result.failure == nil else {
            for record in records { target.release(record) }
            return result
        }
        unsafe entry.noteEncoded(slot, byteCount: writer.byteCount, in: target)
        for (chunk, record) in records.enumerated() { unsafe entry.note(record, ofChunk: chunk, in: slot) }
        return result
    }
}

extension CacheEntry {
    /// The bytes of a value that is being copied are made: that many. Makes room for the records of their chunks.
    func noteEncoded(_ slot: UnsafeMutableRawPointer, byteCount: Int, in file: SegmentFile) {
        let footprint = unsafe header(slot).pointee.footprint.load(ordering: .relaxed)
        statistics.noteEncoding(footprint: footprint, byteCount: byteCount)
        unsafe header(slot).pointee.plainByteCount.store(byteCount, ordering: .relaxed)
        // The word says `copying`: the copy is ours, and has no chunk yet.
        let before = unsafe copy(slot).pointee.chunkCount
        unsafe copy(slot).pointee.reserve(byteCount: byteCount)
        unsafe copy(slot).pointee.begin(in: file)
        reserveFrames(unsafe copy(slot).pointee.chunkCount - before)
    }
}
