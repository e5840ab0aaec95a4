import SystemPackage

/// What is between a payload and the file where a cipher is: frames are sealed on their way out, and opened on their way
/// in, before anything else looks at them. The checksum is that of the payload, so that a saved state can take a copy
/// over as it is encoded.
extension SegmentFile {
    /// The bytes to be written for a payload: itself, or what is sealed, in the encoder's memory. Puts the seal into the
    /// record.
    func sealed(
        _ payload: UnsafeRawBufferPointer,
        as record: inout SpillRecord,
        with encoder: ChunkEncoder
    ) throws(SpillFailure) -> UnsafeRawBufferPointer {
        guard let cipher else { return unsafe payload }
        precondition(payload.count <= Self.chunkSize, "A payload is no longer than a chunk.")
        // Within it by the line above; the encoder's payload lies elsewhere.
        let output = unsafe UnsafeMutableRawBufferPointer(rebasing: encoder.sealedBytes[..<payload.count])
        guard let seal = unsafe cipher.seal(payload, generation: record.generation, into: output) else {
            throw .writeFailed(.noMemory)
        }
        record.seal = seal
        return UnsafeRawBufferPointer(output)
    }

    /// The bytes to be written for a batch that has its place: itself, or its frames sealed one by one. What lies between
    /// sealed frames is zeros or older sealed frames, never what other values left there.
    func sealedBatch(with encoder: ChunkEncoder) throws(SpillFailure) -> UnsafeRawBufferPointer {
        guard let cipher else { return unsafe encoder.batchBytes }
        guard let bytes = unsafe encoder.sealBatch(with: cipher) else { throw .writeFailed(.noMemory) }
        return unsafe bytes
    }

    /// Opens a frame that was read, where it lies: whether it is the one the record describes.
    func open(_ frame: UnsafeMutableRawBufferPointer, as record: SpillRecord) -> Bool {
        guard let cipher else { return true }
        return unsafe cipher.open(frame, record.seal, generation: record.generation)
    }
}
