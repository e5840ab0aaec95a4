import PressureSystem
import SystemPackage

/// Many small values written with one call. A batch is one encoder's: begin it, append to it, then write or abandon it,
/// all on one thread; the encoder is in use meanwhile. Nothing here allocates.
///
/// ```swift
/// file.beginBatch(with: encoder)
/// while let value = next(), file.append(value.bytes, to: encoder) {}
/// try file.writeBatch(with: encoder)
/// for index in 0..<encoder.batchCount { keep(encoder.batchRecord(index)) }
/// ```
///
/// Frames of up to 4 KiB share units, where they would otherwise have one each; a unit is free again when the last of
/// its frames is released. If that many units are shared already (``SharedUnits``), each frame begins a unit, and only
/// the call is saved.
extension SegmentFile {
    /// The longest value that gains from a batch: above it the call is a small part of the write.
    package static let longestBatched = 16 << 10

    private static let unitsOfBatch = chunkSize / ExtentAllocator.unitSize

    /// Begins a batch. Does not block.
    package func beginBatch(with encoder: ChunkEncoder) {
        encoder.use.begin()
        let sharesUnits = state.withLock { $0.allocator.shared.promise(Self.unitsOfBatch) }
        encoder.beginBatch(sharesUnits: sharesUnits)
    }

    /// Encodes one value into the batch. Does not block.
    ///
    /// - Parameters:
    ///   - plain: 1 to ``longestBatched`` bytes; copied or compressed, so not needed afterwards.
    ///   - encoder: the encoder that the batch was begun with.
    ///   - compress: what to ask of it. A frame that shares its unit is compressed if that makes it a tenth smaller.
    /// - Returns: `false` when the batch is full: write it, and append the value to the next one.
    package func append(
        _ plain: UnsafeRawBufferPointer,
        to encoder: ChunkEncoder,
        compress: CompressionChoice = .adaptive
    ) -> Bool {
        precondition(1...Self.longestBatched ~= plain.count, "Only small values are batched.")
        return unsafe encoder.append(plain, compress)
    }

    /// Writes the batch in one piece and ends it. Blocks.
    ///
    /// - Parameters:
    ///   - encoder: the encoder that the batch was begun with. Its `batchRecord(_:)` has the records afterwards, in the
    ///     order in which the values were appended, and its `batchCost` what it took.
    ///   - assurance: what has to be known of the whole batch before it is trusted. One value that needs it is reason
    ///     enough.
    /// - Throws: why it could not be written. None of it is, then: nothing is left allocated in the file.
    package func writeBatch(
        with encoder: ChunkEncoder,
        assurance: SpillAssurance = .onDevice
    ) throws(SpillFailure) {
        defer { endBatch(encoder) }
        let byteCount = unsafe encoder.batchBytes.count
        guard byteCount > 0 else { return }
        do throws(SpillFailure) { try checkKeeping(assurance) } catch {
            encoder.abandonBatch()
            throw error
        }
        let start = encoder.clock.now()
        let (extent, generation) = try take(byteCount, frames: encoder.batchCount)
        encoder.placeBatch(at: extent.start, generation: generation)
        let offset = extent.bytes.lowerBound
        let isOnDevice: Bool
        do throws(SpillFailure) {
            let frames = try unsafe sealedBatch(with: encoder)
            isOnDevice = try unsafe put(frames, at: offset, assurance, with: encoder) { unsafe encoder.isBatch($0) }
        } catch {
            state.withLock { $0.allocator.free(extent) }
            encoder.abandonBatch()
            throw error
        }
        encoder.noteBatchWritten(in: encoder.clock.now() - start)
        let steps = state.withLock { state in
            var index = 0
            while index < encoder.batchCount {
                let record = encoder.batchRecord(index)
                state.usage.count(record)
                // The first frame of a unit notes how many there are.
                let frames = encoder.framesInUnit(from: index)
                if record.isShared, index == 0 || encoder.batchRecord(index - 1).unit != record.unit {
                    state.allocator.shared.insert(record.unit, frames: frames)
                }
                index += 1
            }
            guard limits.bypassPageCache, !isOnDevice else { return WritebackWindow.Steps() }
            return state.window.wrote(at: offset, count: byteCount)
        }
        perform(steps)
    }

    /// Ends the batch without writing it.
    package func abandonBatch(with encoder: ChunkEncoder) {
        encoder.abandonBatch()
        endBatch(encoder)
    }

    private func endBatch(_ encoder: ChunkEncoder) {
        if encoder.batchSharesUnits { state.withLock { $0.allocator.shared.settle(Self.unitsOfBatch) } }
        encoder.lastCost = nil
        encoder.use.end()
    }
}
