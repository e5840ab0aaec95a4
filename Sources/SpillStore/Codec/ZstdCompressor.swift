#if Zstd
import CZstd
import PressureSystem

/// One reusable zstd context in memory reserved for it (about 600 KiB at level 1): compressing never allocates. For
/// one thread at a time.
///
/// The context is a static one, in the terms of zstd.h: it cannot grow, and unlike an ordinary context it does not
/// shrink either after a row of small inputs, which would mean an allocation in the middle of a reclaim.
@safe struct ZstdCompressor: ~Copyable {
    /// The level of copies made under pressure. Above it the ratio gains little: the larger levels' windows are
    /// wasted on chunks of 256 KiB.
    static let level: CInt = 1

    private let memory: ReservedPages
    private let context: OpaquePointer
    private let level: CInt

    /// - Throws: ``PressureError`` with code `spillFailed` when there is no memory for the context.
    init(level: CInt = Self.level) throws(PressureError) {
        let byteCount = ZSTD_estimateCCtxSize(level)
        let memory = try ReservedPages(byteCount: byteCount)
        // The context lives in `memory`, which lives as long as this does.
        guard let context = unsafe ZSTD_initStaticCCtx(memory.bytes.baseAddress, memory.bytes.count) else {
            throw .scratchUnavailable(byteCount: byteCount)
        }
        self.memory = memory
        unsafe self.context = context
        self.level = level
    }

    /// Compresses `plain` into a frame of its own.
    ///
    /// - Returns: the number of bytes written to `output`, or `nil` when the result does not fit.
    func compress(_ plain: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
        // Both buffers are the caller's, with their lengths.
        let count = unsafe ZSTD_compressCCtx(
            context,
            output.baseAddress,
            output.count,
            plain.baseAddress,
            plain.count,
            level
        )
        return ZSTD_isError(count) == 0 ? count : nil
    }
}
#endif
