#if Zstd
import CZstd
import PressureSystem

/// One reusable zstd context for reading, in memory reserved for it (about 160 KiB): decompressing never
/// allocates. For one thread at a time.
@safe struct ZstdDecompressor: ~Copyable {
    private let memory: ReservedPages
    private let context: OpaquePointer

    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for the context.
    init(isTouched: Bool = true) throws(PressureError) {
        let byteCount = ZSTD_estimateDCtxSize()
        let memory = try ReservedPages(byteCount: byteCount, isTouched: isTouched)
        // As in `ZstdCompressor`.
        guard let context = unsafe ZSTD_initStaticDCtx(memory.bytes.baseAddress, memory.bytes.count) else {
            throw .scratchUnavailable(byteCount: byteCount)
        }
        self.memory = memory
        unsafe self.context = context
    }

    /// Decompresses `input` into `output`.
    ///
    /// - Returns: whether `input` was whole frames, used to the last byte, that filled `output` exactly. When it
    ///   was not, `output` holds anything.
    func decompress(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Bool {
        // Both buffers are the caller's, with their lengths.
        let count = unsafe ZSTD_decompressDCtx(
            context,
            output.baseAddress,
            output.count,
            input.baseAddress,
            input.count
        )
        return ZSTD_isError(count) == 0 && count == output.count
    }
}
#endif
