import PressureSystem
import SystemPackage

extension SegmentFile {
    /// Reads a chunk back, checks that it is the one `record` describes, and puts its plain bytes straight into
    /// `destination`. Blocks; allocates nothing.
    ///
    /// - Parameters:
    ///   - destination: exactly `record.plainLength` bytes. After an error it holds anything.
    ///   - decoder: scratch that no other thread is using.
    /// - Throws: `readFailed` when the system refused, `damaged` when the bytes are not the ones written. Never gives
    ///   wrong bytes without an error, short of a CRC-32 collision.
    package func read(
        _ record: SpillRecord,
        into destination: UnsafeMutableRawBufferPointer,
        with decoder: ChunkDecoder
    ) throws(SpillFailure) {
        precondition(destination.count == record.plainLength, "The destination is as long as the chunk.")
        let payloadLength = Int(record.storedLength)
        guard 1...Self.chunkSize ~= payloadLength else { throw .damaged(.contradiction) }
        decoder.use.begin()
        defer { decoder.use.end() }
        if record.codec == .stored {
            guard payloadLength == destination.count else { throw .damaged(.contradiction) }
            try unsafe readFrame(record, into: destination)
        } else {
            let payload = unsafe decoder.payloadBytes(payloadLength)
            try unsafe readFrame(record, into: payload)
            guard unsafe decoder.unpack(UnsafeRawBufferPointer(payload), record.codec, into: destination) else {
                throw .damaged(.badPayload)
            }
        }
    }

    private func readFrame(
        _ record: SpillRecord,
        into payload: UnsafeMutableRawBufferPointer
    ) throws(SpillFailure) {
        let count: Int
        // What a limit counts is not kept for readers who may never come.
        let extent = record.extent
        defer {
            let unit = ExtentAllocator.unitSize
            dropCached(at: Int64(extent.start) * Int64(unit), count: Int(extent.count) * unit)
        }
        do {
            let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
            count = try unsafe fileSystem.readFully(descriptor, at: record.offset, into: payload, nothing)
        } catch {
            throw .readFailed(error)
        }
        guard count == payload.count else { throw .damaged(.truncated) }
        guard unsafe open(payload, as: record) else { throw .damaged(.checksumMismatch) }
        guard unsafe Checksum.crc32(UnsafeRawBufferPointer(payload)) == record.checksum else {
            throw .damaged(.checksumMismatch)
        }
    }
}

// MARK: - Saved states

extension SegmentFile {
    /// Reads a frame and holds it against its record and its checksum: what is wrong, `nil` when nothing is. Blocks.
    package func verdict(on record: SpillRecord, with decoder: ChunkDecoder) -> SpillFailure? {
        decoder.use.begin()
        defer { decoder.use.end() }
        do throws(SpillFailure) {
            _ = try unsafe payload(of: record, with: decoder)
            return nil
        } catch {
            return error
        }
    }

    /// A chunk as it is encoded in the file, checked; in the decoder's memory, which is this thread's.
    package func payload(
        of record: SpillRecord,
        with decoder: ChunkDecoder
    ) throws(SpillFailure) -> UnsafeMutableRawBufferPointer {
        let count = Int(record.storedLength)
        guard 1...Self.chunkSize ~= count else { throw .damaged(.contradiction) }
        let payload = unsafe decoder.payloadBytes(count)
        try unsafe readFrame(record, into: payload)
        return unsafe payload
    }
}
