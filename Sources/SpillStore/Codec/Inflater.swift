import CZlib
import PressureSystem

/// One reusable raw inflate stream. Its state is allocated once; inflating a whole chunk in one call needs no window
/// and allocates nothing. For one thread at a time.
@safe struct Inflater: ~Copyable {
    /// On the heap because zlib's state points back at it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for the stream.
    init() throws(PressureError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe pk_inflate_init_raw(stream) == Z_OK else {
            unsafe stream.deallocate()
            throw .scratchUnavailable(byteCount: 8 << 10)
        }
        // Last: from here on `deinit` runs, also when an initialiser throws.
        unsafe self.stream = stream
    }

    deinit {
        // As in `Deflater`.
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Inflates `input` into `output`.
    ///
    /// - Returns: whether `input` was one whole stream, used to its last byte, that filled `output` exactly. When it
    ///   was not, `output` holds anything.
    func inflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        guard unsafe inflateReset(stream) == Z_OK else { return false }
        // zlib never writes to its input; its header lacks the `const`. The lengths are those of the caller's buffers.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self)
        )
        unsafe stream.pointee.avail_in = uInt(input.count)
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe stream.pointee.avail_out = uInt(output.count)
        return unsafe CZlib.inflate(stream, Z_FINISH) == Z_STREAM_END
            && stream.pointee.avail_in == 0 && stream.pointee.avail_out == 0
    }
}
