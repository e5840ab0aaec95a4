import CLinuxShims
import CZlib
import PressureSystem

/// One reusable raw deflate stream. Its roughly 256 KiB of state (zconf.h) lie in pages reserved once; compressing
/// allocates nothing, and a stream that has not been used takes no memory but addresses. For one thread at a time.
@safe struct Deflater: ~Copyable {
    /// On the heap because zlib's state points back at it.
    private let deflater: UnsafeMutablePointer<pk_deflater>
    private let pages: ReservedPages
    private let level: CInt

    /// Twice what zlib wants, which other implementations of its interface do not exceed either: addresses, not memory.
    private static let room = 512 << 10

    /// - Parameter isTouched: whether the state is set up now, and not when it is first used.
    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for the stream.
    init(level: CInt = 1, isTouched: Bool = true) throws(PressureError) {
        let pages = try ReservedPages(byteCount: Self.room, isTouched: false)
        let deflater = UnsafeMutablePointer<pk_deflater>.allocate(capacity: 1)
        unsafe deflater.initialize(to: pk_deflater())
        if isTouched {
            guard unsafe pk_deflater_begin(deflater, pages.bytes.baseAddress, Self.room, level) == Z_OK else {
                unsafe deflater.deallocate()
                throw .scratchUnavailable(byteCount: Self.room)
            }
        }
        // Last: from here on `deinit` runs, also when an initialiser throws.
        unsafe self.deflater = deflater
        self.pages = pages
        self.level = level
    }

    deinit {
        // zlib's state lies in the pages, which go with their owner; the rest was allocated in `init`.
        unsafe deflater.deallocate()
    }

    /// Gives the state's memory back to the system. The next use sets it up anew.
    func giveBack() {
        unsafe deflater.pointee.is_ready = 0
        pages.giveBack()
    }

    /// Where zlib keeps its place.
    private var stream: UnsafeMutablePointer<z_stream> {
        // The first member of what lives as long as `self`.
        unsafe UnsafeMutableRawPointer(deflater).assumingMemoryBound(to: z_stream.self)
    }

    /// Has the stream ready for new input.
    private func begin() -> Bool {
        // The pages are as long as that, and nobody else's.
        unsafe deflater.pointee.is_ready != 0
            ? deflateReset(stream) == Z_OK
            : pk_deflater_begin(deflater, pages.bytes.baseAddress, Self.room, level) == Z_OK
    }

    /// Compresses `first` followed by `second` as one stream.
    ///
    /// - Returns: the number of bytes written to `output`, or `nil` when the result does not fit.
    func compress(
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer = unsafe UnsafeRawBufferPointer(start: nil, count: 0),
        into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard begin() else { return nil }
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
