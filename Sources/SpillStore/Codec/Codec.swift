/// How the payload of a frame is to be read. Every codec that is built in can be read whatever the writer prefers.
package enum Codec: UInt8, Sendable, CaseIterable {
    /// The bytes as they are.
    case stored = 0
    /// Raw deflate (RFC 1951), without zlib's wrapper: the frame has a checksum of its own.
    case deflate = 1
    #if Zstd
    /// A Zstandard frame (RFC 8878) without a checksum. Only with the package trait `Zstd`.
    case zstd = 2
    #endif
}

/// What a writer asks of the encoder. A chunk that a codec would not make at least one allocation unit and a tenth
/// smaller is stored, whatever was asked.
package enum CompressionChoice: Sendable, CaseIterable {
    /// Compresses what looks compressible, with the best codec there is: zstd with the package trait `Zstd`, else
    /// deflate. For deflate, looks at a few KiB first.
    case adaptive
    /// Stores.
    case stored
    /// Tries deflate without looking first.
    case deflate
    #if Zstd
    /// Tries zstd. Only with the package trait `Zstd`.
    case zstd
    #endif
}
