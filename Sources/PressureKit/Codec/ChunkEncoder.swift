/// Turns one chunk into the payload of a frame, in memory reserved when it is made: about 256 KiB of deflate state and
/// as much output, all of it before the first warning.
///
/// For one thread at a time; a second one traps.
// Safe to share: `use` lets one thread at a time at the scratch, with acquire and release ordering between them.
package final class ChunkEncoder: @unchecked Sendable {
    /// The result of encoding: valid until the encoder is used again and the plain bytes go.
    @safe struct Encoded {
        var codec: Codec
        var payload: UnsafeRawBufferPointer
    }

    let use = ExclusiveUse()
    private let deflater: Deflater
    private let output: ReservedPages
    private let readBack: ReservedPages

    /// Reserves everything encoding will need.
    ///
    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for it.
    package init() throws(PressureError) {
        deflater = try Deflater()
        output = try ReservedPages(byteCount: SegmentFile.chunkSize)
        readBack = try ReservedPages(byteCount: Self.readBackLength)
    }

    /// How much of a frame is read back at a time to be compared: little enough to stay in the processor's cache.
    static let readBackLength = 32 << 10

    /// Room for a slice of payload that is read back.
    var readBackBytes: UnsafeMutableRawBufferPointer {
        // As long as its owner, like the encoder's user.
        unsafe readBack.bytes
    }

    /// Encodes one chunk. Allocates nothing and does not block.
    ///
    /// The payload is `plain` itself when it is stored: nothing is copied.
    func encode(_ plain: UnsafeRawBufferPointer, _ choice: CompressionChoice) -> Encoded {
        if let limit = Self.deflatedLimit(plain.count), unsafe shouldDeflate(plain, choice) {
            // `limit` is below the chunk size, which `output` holds. Output that does not fit means "store".
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: output.bytes[..<limit])
            if let count = unsafe deflater.compress(plain, into: room) {
                return unsafe Encoded(codec: .deflate, payload: UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
        }
        return unsafe Encoded(codec: .stored, payload: plain)
    }

    /// The longest deflated payload that pays for `count` plain bytes: a tenth shorter, in at least one allocation
    /// unit less. `nil` when there is none, as for a chunk that fits one unit anyway.
    static func deflatedLimit(_ count: Int) -> Int? {
        let units = ExtentAllocator.units(forByteCount: count)
        let limit = min(count * 9 / 10, (units - 1) * ExtentAllocator.unitSize)
        return limit > 0 ? limit : nil
    }

    private func shouldDeflate(_ plain: UnsafeRawBufferPointer, _ choice: CompressionChoice) -> Bool {
        switch choice {
        case .stored: return false
        case .deflate: return true
        case .adaptive:
            switch unsafe CompressibilityProbe.verdict(plain) {
            case .compress: return true
            case .trial:
                let (first, second) = unsafe CompressibilityProbe.trialSlices(of: plain)
                let limit = Int(Double(2 * CompressibilityProbe.sliceLength) * CompressibilityProbe.trialThreshold)
                // `limit` is far below the chunk size that `output` holds.
                let room = unsafe UnsafeMutableRawBufferPointer(rebasing: output.bytes[..<limit])
                return unsafe deflater.compress(first, second, into: room) != nil
            }
        }
    }
}
