package import PressureSystem

/// Turns the payload of a frame back into plain bytes, in memory reserved when it is made (about 300 KiB). Make
/// decoders ahead of need: making one allocates, using one does not, unless it was made untouched.
///
/// For one thread at a time; a second one traps.
// Safe to share: `use` lets one thread at a time at the scratch, with acquire and release ordering between them.
package final class ChunkDecoder: @unchecked Sendable {
    package let use = ExclusiveUse()
    private let inflater: Inflater
    #if Zstd
    private let decompressor: ZstdDecompressor
    #endif
    private let input: ReservedPages
    /// The longest payload so far: of ``input`` no more than that is in memory, if it was made untouched.
    private(set) var longest = 0

    /// Reserves everything decoding will need.
    ///
    /// - Parameter isTouched: Whether that is in memory from the beginning; else it comes as it is used, as much of it as the
    ///   values are long.
    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for it.
    package init(isTouched: Bool = true) throws(PressureError) {
        inflater = try Inflater()
        #if Zstd
        decompressor = try ZstdDecompressor(isTouched: isTouched)
        #endif
        input = try ReservedPages(byteCount: SegmentFile.chunkSize, isTouched: isTouched)
    }

    /// Room for `count` bytes of compressed payload, page-aligned; at most a chunk.
    func payloadBytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
        // In a release, too, where slicing checks nothing: the length comes from a record, which may be a saved state's.
        precondition(0...SegmentFile.chunkSize ~= count, "A payload is no longer than a chunk.")
        longest = max(longest, count)
        return unsafe UnsafeMutableRawBufferPointer(rebasing: input.bytes[..<count])
    }

    /// Unpacks a compressed payload into `destination`: whether it was sound and filled it exactly. A stored payload
    /// is not compressed, so never sound. Allocates nothing.
    func unpack(
        _ payload: UnsafeRawBufferPointer,
        _ codec: Codec,
        into destination: UnsafeMutableRawBufferPointer
    ) -> Bool {
        switch codec {
        case .stored: false
        case .deflate: unsafe inflater.inflate(payload, into: destination)
        #if Zstd
        case .zstd: unsafe decompressor.decompress(payload, into: destination)
        #endif
        }
    }
}
