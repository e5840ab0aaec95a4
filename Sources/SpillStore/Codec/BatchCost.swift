/// What a batch of small chunks took, all of them together: of one alone the clock would say more than of the bytes.
package struct BatchCost: Hashable, Sendable {
    /// Bytes in the file, of all.
    package var storedBytes = 0
    /// Of those that compressing paid for: their bytes in memory, and in the file.
    package var packedPlainBytes = 0
    package var packedBytes = 0
    /// Time for compressing those.
    package var encodeTime = Duration.zero
    /// Time for checksums, the write and the check, of all.
    package var writeTime = Duration.zero

    /// Nothing has been done.
    package init() {}

    /// Whether most of what was written is compressed.
    var isPacked: Bool { 2 * packedBytes > storedBytes }
}

/// What came of trying to compress a chunk.
package struct CodecTrial: Hashable, Sendable {
    /// Bytes of the chunk in memory.
    package var plainBytes: Int
    /// Its bytes in the file.
    package var storedBytes: Int
    /// How they are encoded.
    package var codec: Codec
}
