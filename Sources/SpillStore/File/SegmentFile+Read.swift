import PressureSystem
import Synchronization
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
            let payload = try unsafe readFrame(record, to: destination, with: decoder)
            if unsafe payload.baseAddress != destination.baseAddress {
                unsafe destination.copyMemory(from: UnsafeRawBufferPointer(payload))
            }
        } else {
            let payload = try unsafe readFrame(record, with: decoder)
            guard unsafe decoder.unpack(UnsafeRawBufferPointer(payload), record.codec, into: destination) else {
                throw .damaged(.badPayload)
            }
        }
    }

    /// Reads a frame and checks it: where it came to lie, which is `place` or the decoder's memory.
    private func readFrame(
        _ record: SpillRecord,
        to place: UnsafeMutableRawBufferPointer? = nil,
        with decoder: ChunkDecoder
    ) throws(SpillFailure) -> UnsafeMutableRawBufferPointer {
        let payload: UnsafeMutableRawBufferPointer
        if let found = try unsafe readDirect(record, to: place, with: decoder) {
            unsafe payload = found
        } else {
            unsafe payload = place ?? decoder.payloadBytes(Int(record.storedLength))
            try unsafe readCached(record, into: payload)
        }
        guard unsafe open(payload, as: record) else { throw .damaged(.checksumMismatch) }
        guard unsafe Checksum.crc32(UnsafeRawBufferPointer(payload)) == record.checksum else {
            throw .damaged(.checksumMismatch)
        }
        return unsafe payload
    }

    /// Reads a frame through the page cache.
    private func readCached(
        _ record: SpillRecord,
        into payload: UnsafeMutableRawBufferPointer
    ) throws(SpillFailure) {
        let count: Int
        do {
            if let found = try unsafe readUncached(at: record.offset, into: payload) {
                count = found
            } else {
                count = try unsafe readKept(record, into: payload)
            }
        } catch {
            throw .readFailed(error)
        }
        guard count == payload.count else { throw .damaged(.truncated) }
    }

    /// Reads what a limit counts so that it is not kept in the page cache for readers who may never come; `nil` where nothing
    /// counts it, or there is no such read.
    private func readUncached(
        at offset: Int64,
        into payload: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int? {
        guard limits.bypassPageCache, !isInMemory, !isUncachedRefused.load(ordering: .relaxed) else { return nil }
        do {
            let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
            return try unsafe fileSystem.readFully(descriptor, at: offset, into: payload, nothing, isUncached: true)
        } catch {
            // EPERM from filters of system calls that are older than the call.
            guard error == .notSupported || error == .invalidArgument || error == .notPermitted else { throw error }
            isUncachedRefused.store(true, ordering: .relaxed)
            return nil
        }
    }

    /// Reads a frame, which the page cache keeps for a while.
    private func readKept(_ record: SpillRecord, into payload: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        defer { noteCached(record.extent.bytes.count) }
        let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return try unsafe fileSystem.readFully(descriptor, at: record.offset, into: payload, nothing)
    }

    /// From how many bytes on a frame is read so. Shorter ones were written many at a time, and may still be on their way to the
    /// device: reading one past the page cache waits for all of them. (Measured: frames of 32 KiB are read a quarter more
    /// often in a second so, those of 4 KiB no more, and the longest waits of eight readers are a third longer.)
    static let shortestDirectRead = 16 << 10

    /// Reads a frame past the page cache, where a limit counts that: bytes that would be dropped at once are not brought
    /// there first, which costs more than the read itself, and may have the kernel look for memory. `nil` where there is
    /// no such way, or where not all of the frame came by it.
    ///
    /// Its whole units go straight to `place` if that is page-aligned, the rest by way of the decoder's memory.
    private func readDirect(
        _ record: SpillRecord,
        to place: UnsafeMutableRawBufferPointer?,
        with decoder: ChunkDecoder
    ) throws(SpillFailure) -> UnsafeMutableRawBufferPointer? {
        let length = Int(record.storedLength)
        guard limits.bypassPageCache, length >= Self.shortestDirectRead,
            let direct, !isDirectRefused.load(ordering: .relaxed)
        else { return nil }
        let unit = ExtentAllocator.unitSize
        let units = record.extent.bytes
        var head = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        if let place = unsafe place, UInt(bitPattern: place.baseAddress) % UInt(unit) == 0 {
            unsafe head = UnsafeMutableRawBufferPointer(rebasing: place[..<(length / unit * unit)])
        }
        let rest = unsafe decoder.payloadBytes(units.count - head.count)
        do {
            let count = unsafe try fileSystem.read(direct, at: units.lowerBound, into: head, rest)
            guard count >= length else { return nil }
        } catch {
            // Some file systems open such a file and read nothing of it.
            guard error == .invalidArgument || error == .notSupported else { throw .readFailed(error) }
            isDirectRefused.store(true, ordering: .relaxed)
            return nil
        }
        guard let place = unsafe place, head.count > 0 else {
            return unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<length])
        }
        let tail = unsafe UnsafeRawBufferPointer(rebasing: rest[..<(length - head.count)])
        unsafe UnsafeMutableRawBufferPointer(rebasing: place[head.count...]).copyMemory(from: tail)
        return unsafe place
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
        return try unsafe readFrame(record, with: decoder)
    }
}
