/// Reading a copy back into a value.
extension SpillCopy {
    /// Makes the value again from its copy, chunk by chunk straight into its final storage. Blocks; allocates the value.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy`, or what the value's own initialiser throws.
    func restore<Value: Spillable>(_ type: Value.Type, plainByteCount: Int) throws -> Value {
        guard let file else { preconditionFailure("restored a value that has no copy") }
        let decoder = try DecoderPool.shared.take()
        defer { DecoderPool.shared.giveBack(decoder) }
        return unsafe try Value(spillByteCount: plainByteCount) { storage in
            for index in 0..<chunkCount {
                guard let record = record(index) else { preconditionFailure("chunk \(index) was never written") }
                let part = unsafe storage[SegmentFile.chunkRange(index, ofByteCount: plainByteCount)]
                unsafe try file.read(record, into: UnsafeMutableRawBufferPointer(rebasing: part), with: decoder)
            }
        }
    }
}
