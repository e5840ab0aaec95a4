import CLinuxShims
import CZlib

/// The CRC-32 of gzip and zlib (polynomial 0xEDB88320, reflected), which finds every burst of up to 32 bits and so
/// every single bit flip.
package enum Checksum {
    /// The checksum of the bytes whose checksum was `start`, followed by `bytes`.
    package static func crc32(_ bytes: UnsafeRawBufferPointer, continuing start: UInt32 = 0) -> UInt32 {
        guard let base = bytes.baseAddress else { return start }
        var checksum = start
        // Both read inside the `count` bytes at `base`, which the caller holds: the second what the first left.
        let folded = unsafe pk_crc32_fold(&checksum, base, bytes.count)
        let rest = unsafe (base + folded).assumingMemoryBound(to: Bytef.self)
        return UInt32(truncatingIfNeeded: unsafe crc32_z(uLong(checksum), rest, bytes.count - folded))
    }
}
