import Glibc
import PressureSystem
import Synchronization
import SystemPackage

extension SegmentFile {
    /// Encodes one chunk and writes it. Blocks; allocates nothing.
    ///
    /// - Parameters:
    ///   - plain: 1 to `chunkSize` bytes, which must not change meanwhile.
    ///   - encoder: scratch that no other thread is using; its `lastCost` says what the chunk took.
    ///   - compress: what to ask of the encoder.
    ///   - assurance: what has to be known before the frame is trusted, so that a write that lies, or a disk that fails
    ///     after it took one, is a failed spill and not a lost value.
    /// - Returns: what it takes to read the chunk again.
    /// - Throws: why it could not be written. Nothing is left allocated in the file then.
    package func write(
        _ plain: UnsafeRawBufferPointer,
        with encoder: ChunkEncoder,
        compress: CompressionChoice = .adaptive,
        assurance: SpillAssurance = .onDevice
    ) throws(SpillFailure) -> SpillRecord {
        precondition(1...Self.chunkSize ~= plain.count, "A chunk has 1 to \(Self.chunkSize) bytes.")
        try checkKeeping(assurance)
        encoder.use.begin()
        defer { encoder.use.end() }
        let start = encoder.clock.now()
        let encoded = unsafe encoder.encode(plain, compress)
        if encoded.isTried { encoder.clock.spent(on: .compressing, byteCount: plain.count) }
        let encodedAt = encoder.clock.now()
        var record = try place(encoded, plainLength: plain.count)
        let isOnDevice: Bool
        do throws(SpillFailure) {
            let frame = try unsafe sealed(encoded.payload, as: &record, with: encoder)
            let (length, checksum) = (Int(record.storedLength), record.checksum)
            isOnDevice = try unsafe put(frame, at: record.offset, assurance, with: encoder) { found in
                // The frame's part of whole units.
                unsafe Checksum.crc32(UnsafeRawBufferPointer(rebasing: found[..<length])) == checksum
            }
        } catch {
            state.withLock { $0.allocator.free(record.extent) }
            throw error
        }
        finish(record, isOnDevice: isOnDevice)
        encoder.lastCost = ChunkCost(
            plainBytes: plain.count,
            storedBytes: Int(record.storedLength),
            codec: encoded.codec,
            isTried: encoded.isTried,
            encodeTime: encodedAt - start,
            writeTime: encoder.clock.now() - encodedAt
        )
        return record
    }

    /// What may be given up where it is written is no place for what nobody can make again.
    func checkKeeping(_ assurance: SpillAssurance) throws(SpillFailure) {
        if assurance == .onDevice, !fileSystem.keepsEverything { throw .mayBeEvicted }
    }

    /// Frees a frame's extent for reuse. No system call; allocates nothing. The blocks are given back by
    /// `punchPending()`.
    ///
    /// Each record is released once. Releasing it while it is being read is safe for the file: the read fails its
    /// check, or has already passed it.
    package func release(_ record: SpillRecord) {
        // A saved state keeps its bytes; it only knows how many of them are still somebody's.
        if isReadOnly { return state.withLock { $0.usage.forget(record) } }
        if limits.returnsAtOnce { return releaseAtOnce(record) }
        state.withLock { state in
            let extent = record.isShared ? state.allocator.takeLastFrame(of: record.unit) : record.extent
            if let extent { state.allocator.free(extent) }
            state.usage.forget(record)
        }
    }

    /// Notes that a value has its copy in a frame that was found here.
    package func adopt(_ record: SpillRecord) { state.withLock { $0.usage.hold(record) } }

    /// Finds a place for a frame.
    private func place(_ encoded: ChunkEncoder.Encoded, plainLength: Int) throws(SpillFailure) -> SpillRecord {
        let length = unsafe encoded.payload.count
        let (extent, generation) = try take(length, frames: 1)
        return SpillRecord(
            generation: generation,
            unit: extent.start,
            storedLength: UInt32(length),
            plainLength: UInt32(plainLength),
            codec: encoded.codec,
            // Before the write, not after it: it brings the bytes into the cache from which the kernel copies them,
            // and costs a quarter of what it costs afterwards.
            checksum: unsafe Checksum.crc32(encoded.payload)
        )
    }

    /// Takes an extent of `length` bytes for a number of frames; returns it with the generation of the first. Blocks
    /// while the tail is being cut off where the extent lies.
    func take(_ length: Int, frames: Int) throws(SpillFailure) -> (extent: Extent, generation: UInt64) {
        guard isOurs else { throw .parentsFile }
        try checkFloor(length)
        let units = UInt32(ExtentAllocator.units(forByteCount: length))
        let taken: (extent: Extent, generation: UInt64, isBeingCut: Bool)? = state.withLock { state in
            guard let extent = state.allocator.allocate(units) else { return nil }
            let generation = state.generation + 1
            state.generation += UInt64(frames)
            state.fileUnits = max(state.fileUnits, extent.end)
            return (extent, generation, state.cutUnit.map { extent.end > $0 } ?? false)
        }
        guard let taken else { throw .limitReached }
        if taken.isBeingCut { tail.withLock { _ in } }
        return (taken.extent, taken.generation)
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

    func writePayload(
        _ payload: UnsafeRawBufferPointer,
        at offset: Int64,
        to descriptor: CInt
    ) throws(SpillFailure) {
        do {
            let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            try unsafe fileSystem.writeFully(descriptor, at: offset, from: payload, nothing)
        } catch {
            throw .writeFailed(error)
        }
    }

    /// Reads a payload back in slices and compares it with what was to be written.
    func isWritten(
        _ payload: UnsafeRawBufferPointer,
        at offset: Int64,
        with encoder: ChunkEncoder
    ) throws(SpillFailure) -> Bool {
        let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var done = 0
        while done < payload.count {
            // `count` is at most what the encoder has room for, and `done + count` at most what the payload has.
            let count = min(payload.count - done, ChunkEncoder.readBackLength)
            let found = unsafe UnsafeMutableRawBufferPointer(rebasing: encoder.readBackBytes[..<count])
            do {
                let read = try unsafe fileSystem.readFully(descriptor, at: offset + Int64(done), into: found, nothing)
                guard read == count else { return false }
            } catch {
                throw .readFailed(error)
            }
            guard unsafe memcmp(found.baseAddress!, payload.baseAddress! + done, count) == 0 else { return false }
            done += count
        }
        return true
    }

    /// Counts the frame, and moves its window of the file on its way to the device if it is not there.
    private func finish(_ record: SpillRecord, isOnDevice: Bool) {
        let steps = state.withLock { state in
            state.usage.count(record)
            guard limits.bypassPageCache, !isOnDevice else { return WritebackWindow.Steps() }
            return state.window.wrote(at: record.offset, count: Int(record.storedLength))
        }
        perform(steps)
    }
}

extension SpillUsage {
    /// Counts a frame that was written.
    mutating func count(_ record: SpillRecord) {
        hold(record)
        framesWritten += 1
        bytesWritten += Int(record.storedLength)
    }

    /// Counts a frame that can be restored.
    mutating func hold(_ record: SpillRecord) {
        frames += 1
        plainBytes += Int(record.plainLength)
        storedBytes += Int(record.storedLength)
    }

    /// Counts a frame no more.
    mutating func forget(_ record: SpillRecord) {
        frames -= 1
        plainBytes -= Int(record.plainLength)
        storedBytes -= Int(record.storedLength)
    }
}

// MARK: - Saved states

extension SegmentFile {
    /// Writes a chunk that another file has, as it is encoded there, and reads it back. Blocks.
    ///
    /// - Parameters:
    ///   - payload: the chunk's bytes there, checked.
    ///   - record: what the other file says of it.
    ///   - encoder: scratch to compare with.
    /// - Throws: why it could not be written. Nothing is left allocated in the file then.
    package func take(
        _ payload: UnsafeRawBufferPointer,
        as record: SpillRecord,
        with encoder: ChunkEncoder
    ) throws(SpillFailure) -> SpillRecord {
        encoder.use.begin()
        defer { encoder.use.end() }
        let (extent, generation) = try take(payload.count, frames: 1)
        var placed = SpillRecord(
            generation: generation,
            unit: extent.start,
            storedLength: record.storedLength,
            plainLength: record.plainLength,
            codec: record.codec,
            checksum: record.checksum
        )
        let isOnDevice: Bool
        do throws(SpillFailure) {
            let frame = try unsafe sealed(payload, as: &placed, with: encoder)
            isOnDevice = try unsafe put(frame, at: placed.offset, .readBack, with: encoder) { _ in false }
        } catch {
            state.withLock { $0.allocator.free(extent) }
            throw error
        }
        finish(placed, isOnDevice: isOnDevice)
        return placed
    }
}
