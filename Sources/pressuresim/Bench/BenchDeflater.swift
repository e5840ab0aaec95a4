import CZlib
import PressureKit

/// The codec as the limit has it: one raw deflate and one raw inflate stream of zlib, used by one thread, with nothing
/// around them.
@safe
final class BenchDeflater: @unchecked Sendable {
    // Sendable and safe: used by one thread at a time; streams and output live from `init` to `deinit`.
    private let deflating: UnsafeMutablePointer<z_stream>
    private let inflating: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer

    /// The bytes deflated at once, as the library does.
    static let chunk = SegmentFile.chunkSize

    init() {
        unsafe deflating = .allocate(capacity: 1)
        unsafe deflating.initialize(to: z_stream())
        unsafe inflating = .allocate(capacity: 1)
        unsafe inflating.initialize(to: z_stream())
        unsafe output = .allocate(byteCount: 2 * Self.chunk, alignment: 4096)
        let status = unsafe (pk_deflate_init_raw(deflating, 1), pk_inflate_init_raw(inflating))
        precondition(status == (Z_OK, Z_OK), "zlib has no memory for a stream")
    }

    deinit {
        unsafe deflateEnd(deflating)
        unsafe inflateEnd(inflating)
        unsafe deflating.deallocate()
        unsafe inflating.deallocate()
        unsafe output.deallocate()
    }

    /// Deflates one chunk, level 1; its output is valid until the next call.
    func deflate(_ chunk: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        unsafe deflateReset(deflating)
        // zlib does not write to its input; the output is larger than anything deflate makes of a chunk.
        unsafe deflating.pointee.next_in = UnsafeMutablePointer(
            mutating: chunk.baseAddress?.assumingMemoryBound(to: Bytef.self)
        )
        unsafe deflating.pointee.avail_in = uInt(chunk.count)
        unsafe deflating.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe deflating.pointee.avail_out = uInt(output.count)
        let status = unsafe CZlib.deflate(deflating, Z_FINISH)
        precondition(status == Z_STREAM_END, "deflate ended with \(status)")
        let count = unsafe output.count - Int(deflating.pointee.avail_out)
        return unsafe UnsafeRawBufferPointer(rebasing: output[..<count])
    }

    /// Inflates what ``deflate(_:)`` made into the whole of `plain`.
    func inflate(_ deflated: UnsafeRawBufferPointer, into plain: UnsafeMutableRawBufferPointer) {
        unsafe inflateReset(inflating)
        // As above, with the lengths of the caller's buffers.
        unsafe inflating.pointee.next_in = UnsafeMutablePointer(
            mutating: deflated.baseAddress?.assumingMemoryBound(to: Bytef.self)
        )
        unsafe inflating.pointee.avail_in = uInt(deflated.count)
        unsafe inflating.pointee.next_out = plain.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe inflating.pointee.avail_out = uInt(plain.count)
        let status = unsafe CZlib.inflate(inflating, Z_FINISH)
        precondition(status == Z_STREAM_END, "inflate ended with \(status)")
    }

    /// Passes each chunk of a value, deflated, to `body`, with the chunk's plain length.
    func deflateChunks(of value: PageBuffer, _ body: (Int, UnsafeRawBufferPointer) -> Void = { _, _ in }) {
        unsafe value.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: Self.chunk) {
                let chunk = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.chunk, bytes.count)])
                unsafe body(chunk.count, deflate(chunk))
            }
        }
    }

    /// The bytes that deflate makes of a value.
    func deflatedByteCount(of value: PageBuffer) -> Int {
        var total = 0
        unsafe deflateChunks(of: value) { _, deflated in total += deflated.count }
        return total
    }

    /// The bytes of frames that the values would make if all were deflated, no chunk larger than it
    /// is plain.
    func frameByteCount(of values: [PageBuffer]) -> Int {
        var total = 0
        for value in values {
            unsafe deflateChunks(of: value) { plain, deflated in
                total += min(deflated.count, plain)
            }
        }
        return total
    }
}
