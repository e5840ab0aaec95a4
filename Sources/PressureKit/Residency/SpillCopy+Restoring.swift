import PressureSystem
import SpillStore

/// Reading a copy back into a value.
extension SpillCopy {
    /// Makes the value again from its copy, each chunk straight into its place in the final storage, on all cores if there
    /// are several. Blocks; allocates the value.
    ///
    /// Nothing is written past the storage that the value gives: too little of it is an error.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy`, or what the value's own initialiser throws.
    func restore<Value: Spillable>(_ type: Value.Type, plainByteCount: Int) throws -> Value {
        guard let file else { preconditionFailure("restored a value that has no copy") }
        let decoders = file.decoders
        let decoder = try decoders.take()
        defer { decoders.giveBack(decoder) }
        guard chunkCount == SegmentFile.chunkCount(forByteCount: plainByteCount) else {
            throw SpillFailure.damaged(.contradiction)
        }
        return unsafe try Value(spillByteCount: plainByteCount) { storage in
            // The value's type may be the app's own. Slicing would check it in debug builds only.
            guard storage.count >= plainByteCount else {
                throw PressureError.tooLittleRoom(Value.self, given: storage.count, byteCount: plainByteCount)
            }
            let destination = unsafe Destination(bytes: storage)
            try decoders.helpers.read(chunks: chunkCount, with: decoder, others: decoders) {
                (index, decoder) throws(SpillFailure) in
                guard let record = record(index) else { preconditionFailure("chunk \(index) was never written") }
                // Within the storage, which has all bytes; `read` checks that the record's length is the range's.
                let range = SegmentFile.chunkRange(index, ofByteCount: plainByteCount)
                unsafe try file.read(
                    record,
                    into: UnsafeMutableRawBufferPointer(rebasing: destination.bytes[range]),
                    with: decoder
                )
            }
        }
    }

    /// Where the value's bytes go. Several threads write parts of it that do not overlap.
    @safe private struct Destination {
        let bytes: UnsafeMutableRawBufferPointer
    }
}
