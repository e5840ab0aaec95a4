/// What one chunk took: what `SegmentFile.write` leaves in its encoder.
package struct ChunkCost: Hashable, Sendable {
    /// Bytes of the chunk in memory.
    package var plainBytes: Int
    /// Its bytes in the file.
    package var storedBytes: Int
    /// How they are encoded.
    package var codec: Codec
    /// Whether compressing was tried, or the chunk stored unseen.
    package var isTried: Bool
    /// Time for the probe and the codec.
    package var encodeTime: Duration
    /// Time for the checksum, the write and the check.
    package var writeTime: Duration

    /// Creates an account of a chunk.
    package init(
        plainBytes: Int,
        storedBytes: Int,
        codec: Codec,
        isTried: Bool,
        encodeTime: Duration,
        writeTime: Duration
    ) {
        self.plainBytes = plainBytes
        self.storedBytes = storedBytes
        self.codec = codec
        self.isTried = isTried
        self.encodeTime = encodeTime
        self.writeTime = writeTime
    }
}
