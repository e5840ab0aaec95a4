import Glibc
import PressureSystem
import SpillStore
import Synchronization

/// What caches with one value and with many do alike when they are saved and restored.
extension ValueEntry {
    /// Writes a value that this thread has pinned; `nil` when it cannot be encoded now.
    func savedPinned(_ slot: Slot<Value>, to writer: StateFrames) throws -> StateManifest.Value? {
        if Value.encodesWhenSpilled { return try savedEncoding(slot, to: writer) }
        var outcome: Result<[SpillRecord], SpillFailure>?
        // Pinned: it is there and nobody changes it.
        let count = unsafe plainByteCount(slot.base)
        unsafe slot.value.pointee.withSpillBytes { bytes in
            // Chunks of another length would have the whole state refused.
            outcome = bytes.byteCount == count ? writer.write(bytes) : .failure(.valueNotPassed)
        }
        if case .failure(.valueNotPassed) = outcome {
            writer.leaveOut(SpillFailure.valueNotPassed.pressureError(path: unsafe path(of: slot.base)))
            return nil
        }
        // One that cannot be encoded now is left out.
        return try outcome.map { manifest(slot, records: try $0.get()) }
    }

    /// The same where the bytes are made now, a chunk at a time.
    private func savedEncoding(_ slot: Slot<Value>, to writer: StateFrames) throws -> StateManifest.Value? {
        var records: [SpillRecord] = []
        var failure: SpillFailure?
        // Its memory is this thread's, as `writer` is.
        let bytes = unsafe SpillWriter(piece: writer.pieceBytes) { piece in
            do throws(SpillFailure) {
                try unsafe writer.write(chunk: piece, to: &records)
            } catch {
                failure = error
                throw error
            }
        }
        do {
            // Pinned: it is there and nobody changes it.
            try unsafe slot.value.pointee.writeSpillBytes(to: bytes)
            try bytes.finish()
        } catch {
            writer.discard(records)
            if let failure { throw failure }
            writer.leaveOut(SpillFailure.valueNotPassed.pressureError(path: unsafe path(of: slot.base)))
            return nil
        }
        return manifest(slot, records: records, byteCount: bytes.byteCount)
    }

    /// Takes over the copy of a value that this thread holds as one that restores it; `nil` when it cannot be read.
    func savedCopy(_ slot: Slot<Value>, to writer: StateFrames) throws -> StateManifest.Value? {
        let records = unsafe try writer.take(
            slot.copy.pointee,
            path: path(of: slot.base),
            isReloadable: slot.header.pointee.state.isReloadable
        )
        return records.map { manifest(slot, records: $0) }
    }

    /// What a state says of a value whose chunks are written.
    func manifest(_ slot: Slot<Value>, records: [SpillRecord], byteCount: Int? = nil) -> StateManifest.Value {
        unsafe StateManifest.Value(
            key: nil,
            plainByteCount: UInt64(byteCount ?? plainByteCount(slot.base)),
            footprint: UInt64(slot.header.pointee.footprint.load(ordering: .relaxed)),
            isReloadable: slot.header.pointee.state.isReloadable,
            variant: slot.header.pointee.variant.load(ordering: .relaxed),
            records: records
        )
    }

    /// Makes a slot that is this thread's, and empty, that of a saved value: spilled, with its copy in `file`.
    func adopt(_ value: StateManifest.Value, in file: SegmentFile, _ slot: Slot<Value>) {
        clear(slot)
        let count = Int(value.plainByteCount)
        unsafe slot.header.pointee.plainByteCount.store(count, ordering: .relaxed)
        unsafe slot.header.pointee.footprint.store(Int(value.footprint), ordering: .relaxed)
        unsafe slot.header.pointee.variant.store(value.variant, ordering: .relaxed)
        unsafe noteWrite(slot.base)
        unsafe slot.copy.pointee.reserve(byteCount: count)
        reserveFrames(unsafe slot.copy.pointee.chunkCount)
        unsafe slot.copy.pointee.begin(in: file)
        for (index, record) in value.records.enumerated() {
            file.adopt(record)
            unsafe note(record, ofChunk: index, in: slot.base)
        }
        let isReloadable = hasLoader && value.isReloadable
        guard let step = unsafe slot.header.pointee.apply({ $0.adopting(isReloadable: isReloadable) }) else {
            preconditionFailure("adopted in a slot that was not the writer's")
        }
        unsafe wake(slot.base, after: step.before)
    }

    /// How the type of the values is spelled: bytes of another one are not read as this one.
    var typeName: String { String(reflecting: Value.self) }

    /// How their elements lie in memory, if that is what is written.
    var layout: ElementLayout? { ElementLayout(ofElementsIn: Value.self) }

    /// Makes sure that saved bytes are what values of this cache are made of.
    ///
    /// - Throws: ``PressureError`` with `stateMismatch`.
    func check(_ saved: StateManifest.Cache) throws(PressureError) {
        guard saved.type == typeName, saved.layout == layout else {
            throw .stateMismatch(saved, typeName, layout, path: path)
        }
    }
}
