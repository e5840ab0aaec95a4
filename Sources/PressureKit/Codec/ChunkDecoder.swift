/// Turns the payload of a frame back into plain bytes, in memory reserved when it is made (about 300 KiB). Make
/// decoders ahead of need: making one allocates, using one does not.
///
/// For one thread at a time; a second one traps.
// Safe to share: `use` lets one thread at a time at the scratch, with acquire and release ordering between them.
package final class ChunkDecoder: @unchecked Sendable {
    let use = ExclusiveUse()
    private let inflater: Inflater
    private let input: ReservedPages

    /// Reserves everything decoding will need.
    ///
    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for it.
    package init() throws(PressureError) {
        inflater = try Inflater()
        input = try ReservedPages(byteCount: SegmentFile.chunkSize)
    }

    /// Room for `count` bytes of deflated payload, page-aligned; at most a chunk.
    func payloadBytes(_ count: Int) -> UnsafeMutableRawBufferPointer {
        // Slicing checks `count` against the reservation.
        unsafe UnsafeMutableRawBufferPointer(rebasing: input.bytes[..<count])
    }

    /// Inflates a payload into `destination`: whether it was sound and filled it exactly. Allocates nothing.
    func inflate(_ payload: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer) -> Bool {
        unsafe inflater.inflate(payload, into: destination)
    }
}
