import CLinuxShims
import CZlib

/// One reusable raw deflate stream. Its roughly 256 KiB of state (zconf.h) are allocated once; compressing allocates
/// nothing. For one thread at a time.
@safe struct Deflater: ~Copyable {
    /// On the heap because zlib's state points back at it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for the stream.
    init(level: CInt = 1) throws(PressureError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard !pk_is_memory_refused(), unsafe pk_deflate_init_raw(stream, level) == Z_OK else {
            unsafe stream.deallocate()
            throw .scratchUnavailable(byteCount: 256 << 10)
        }
        // Last: from here on `deinit` runs, also when an initialiser throws.
        unsafe self.stream = stream
    }

    deinit {
        // Initialised in `init`; zlib frees what it allocated, we free the stream.
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses `first` followed by `second` as one stream.
    ///
    /// - Returns: the number of bytes written to `output`, or `nil` when the result does not fit.
    func compress(
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(start: nil, count: 0),
        into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard unsafe deflateReset(stream) == Z_OK else { return nil }
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        unsafe stream.pointee.avail_out = uInt(output.count)
        if unsafe !second.isEmpty {
            guard unsafe deflate(first, Z_NO_FLUSH) == Z_OK, unsafe stream.pointee.avail_in == 0 else { return nil }
        }
        let status = unsafe deflate(second.isEmpty ? first : second, Z_FINISH)
        return status == Z_STREAM_END ? unsafe output.count - Int(stream.pointee.avail_out) : nil
    }

    private func deflate(_ input: UnsafeRawBufferPointer, _ flush: CInt) -> CInt {
        // zlib never writes to its input; its header lacks the `const`. The lengths are those of the caller's buffers.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self)
        )
        unsafe stream.pointee.avail_in = uInt(input.count)
        return unsafe CZlib.deflate(stream, flush)
    }
}
