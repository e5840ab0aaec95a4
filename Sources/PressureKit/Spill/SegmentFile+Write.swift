import Glibc
import Synchronization
import SystemPackage

extension SegmentFile {
    /// Encodes one chunk and writes it. Blocks; allocates nothing.
    ///
    /// - Parameters:
    ///   - plain: 1 to `chunkSize` bytes, which must not change meanwhile.
    ///   - encoder: scratch that no other thread is using.
    ///   - compress: what to ask of the encoder.
    ///   - verify: whether the frame is read back and compared byte by byte before it is trusted, so that a write that
    ///     lies is a failed spill and not a lost value.
    /// - Returns: what it takes to read the chunk again.
    /// - Throws: why it could not be written. Nothing is left allocated in the file then.
    package func write(
        _ plain: UnsafeRawBufferPointer,
        with encoder: ChunkEncoder,
        compress: CompressionChoice = .adaptive,
        verify: Bool = true
    ) throws(SpillFailure) -> SpillRecord {
        precondition(1...Self.chunkSize ~= plain.count, "A chunk has 1 to \(Self.chunkSize) bytes.")
        encoder.use.begin()
        defer { encoder.use.end() }
        let encoded = unsafe encoder.encode(plain, compress)
        let record = try place(encoded, plainLength: plain.count)
        do throws(SpillFailure) {
            unsafe FrameHeader(record: record).seal(encoded.payload, into: encoder.headerBytes)
            try unsafe writeFrame(UnsafeRawBufferPointer(encoder.headerBytes), encoded.payload, at: record)
            if verify {
                let isWritten = try unsafe isWritten(encoded.payload, at: record, with: encoder)
                guard isWritten else { throw .notWritten }
            }
        } catch {
            state.withLock { $0.allocator.free(record.extent) }
            throw error
        }
        finish(record)
        return record
    }

    /// Frees a frame's extent for reuse. No system call; allocates nothing. The blocks are given back by
    /// `punchPending()`.
    ///
    /// Each record is released once. Releasing it while it is being read is safe for the file: the read fails its
    /// check, or has already passed it.
    package func release(_ record: SpillRecord) {
        if isReadOnly { return }
        state.withLock { state in
            state.allocator.free(record.extent)
            state.usage.frames -= 1
            state.usage.plainBytes -= Int(record.plainLength)
            state.usage.storedBytes -= Int(record.storedLength)
        }
    }

    /// Finds a place for a frame.
    private func place(_ encoded: ChunkEncoder.Encoded, plainLength: Int) throws(SpillFailure) -> SpillRecord {
        let codec = encoded.codec
        let length = unsafe FrameHeader.byteCount + encoded.payload.count
        try checkFloor(length)
        let units = UInt32(ExtentAllocator.units(forByteCount: length))
        let placed: (record: SpillRecord, isBeingCut: Bool)? = state.withLock { state in
            guard let extent = state.allocator.allocate(units) else { return nil }
            state.generation += 1
            let record = SpillRecord(
                generation: state.generation,
                unit: extent.start,
                storedLength: UInt32(length),
                plainLength: UInt32(plainLength),
                codec: codec
            )
            state.fileUnits = max(state.fileUnits, extent.end)
            return (record, state.cutUnit.map { extent.end > $0 } ?? false)
        }
        guard let placed else { throw .limitReached }
        if placed.isBeingCut { tail.withLock { _ in } }
        return placed.record
    }

    /// Looks at the file system's free space once for every 64 MiB written, and for every frame when it is nearly at
    /// the floor.
    private func checkFloor(_ length: Int) throws(SpillFailure) {
        let floor = limits.freeSpaceFloor.bytes
        guard floor > 0 else { return }
        let isPaid = state.withLock { state in
            guard state.floorBudget >= length else { return false }
            state.floorBudget -= length
            return true
        }
        if isPaid { return }
        let available: UInt64
        do {
            available = try fileSystem.freeSpace(descriptor)
        } catch {
            throw .writeFailed(error)
        }
        let budget = min(Int(clamping: available) - floor, 64 << 20)
        guard budget >= length else { throw .floorReached }
        state.withLock { $0.floorBudget = budget - length }
    }

    private func writeFrame(
        _ header: UnsafeRawBufferPointer,
        _ payload: UnsafeRawBufferPointer,
        at record: SpillRecord
    ) throws(SpillFailure) {
        do {
            try unsafe fileSystem.writeFully(descriptor, at: record.offset, from: header, payload)
        } catch {
            throw .writeFailed(error)
        }
    }

    /// Reads a frame back in slices and compares it with what was to be written.
    private func isWritten(
        _ payload: UnsafeRawBufferPointer,
        at record: SpillRecord,
        with encoder: ChunkEncoder
    ) throws(SpillFailure) -> Bool {
        var done = 0
        repeat {
            // The header comes with the first slice, into a place of its own, so that slices begin at a page boundary
            // of the scratch. All ranges stay inside the reservations they slice, which is checked.
            let header = unsafe UnsafeMutableRawBufferPointer(
                rebasing: encoder.foundHeaderBytes[..<(done == 0 ? FrameHeader.byteCount : 0)]
            )
            let count = min(payload.count - done, ChunkEncoder.readBackLength)
            let slice = unsafe UnsafeMutableRawBufferPointer(rebasing: encoder.readBackBytes[..<count])
            let offset = record.offset + Int64(done == 0 ? 0 : FrameHeader.byteCount + done)
            do {
                let found = try unsafe fileSystem.readFully(descriptor, at: offset, into: header, slice)
                guard found == header.count + count else { return false }
            } catch {
                throw .readFailed(error)
            }
            guard unsafe memcmp(slice.baseAddress!, payload.baseAddress! + done, count) == 0 else { return false }
            done += count
        } while done < payload.count
        return unsafe memcmp(
            encoder.foundHeaderBytes.baseAddress!,
            encoder.headerBytes.baseAddress!,
            FrameHeader.byteCount
        ) == 0
    }

    /// Counts the frame, and moves its window of the file on its way to the device.
    private func finish(_ record: SpillRecord) {
        let steps = state.withLock { state in
            state.usage.frames += 1
            state.usage.framesWritten += 1
            state.usage.plainBytes += Int(record.plainLength)
            state.usage.storedBytes += Int(record.storedLength)
            state.usage.bytesWritten += Int(record.storedLength)
            guard limits.bypassPageCache else { return WritebackWindow.Steps() }
            return state.window.wrote(at: record.offset, count: Int(record.storedLength))
        }
        perform(steps)
    }
}

// MARK: - Saved states

extension SegmentFile {
    /// Writes a chunk that another file has, as it is encoded there. Blocks.
    ///
    /// - Throws: why it could not be read there or written here. Nothing is left allocated in this file then.
    func take(
        _ record: SpillRecord,
        from source: SegmentFile,
        with encoder: ChunkEncoder,
        _ decoder: ChunkDecoder
    ) throws(SpillFailure) -> SpillRecord {
        encoder.use.begin()
        defer { encoder.use.end() }
        decoder.use.begin()
        defer { decoder.use.end() }
        let payload = unsafe UnsafeRawBufferPointer(try source.payload(of: record, with: decoder))
        let placed = unsafe try place(
            ChunkEncoder.Encoded(codec: record.codec, payload: payload),
            plainLength: Int(record.plainLength)
        )
        do throws(SpillFailure) {
            unsafe FrameHeader(record: placed).seal(payload, into: encoder.headerBytes)
            try unsafe writeFrame(UnsafeRawBufferPointer(encoder.headerBytes), payload, at: placed)
        } catch {
            state.withLock { $0.allocator.free(placed.extent) }
            throw error
        }
        finish(placed)
        return placed
    }
}
