/// How the payload of a frame is to be read. The raw value is stored in the file.
package enum Codec: UInt8, Sendable, CaseIterable {
    /// The bytes as they are.
    case stored = 0
    /// Raw deflate (RFC 1951), without zlib's wrapper: the frame has a checksum of its own.
    case deflate = 1
}

/// What a writer asks of the encoder. A chunk that deflate would not make at least one allocation unit and a tenth
/// smaller is stored, whatever was asked.
package enum CompressionChoice: Sendable, CaseIterable {
    /// Looks at a few KiB first and stores what does not look compressible.
    case adaptive
    /// Stores.
    case stored
    /// Tries deflate without looking first.
    case deflate
}
