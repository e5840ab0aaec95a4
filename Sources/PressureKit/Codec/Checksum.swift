import CZlib

/// The CRC-32 of gzip and zlib (polynomial 0xEDB88320, reflected), which finds every burst of up to 32 bits and so
/// every single bit flip.
enum Checksum {
    /// The checksum of the bytes whose checksum was `start`, followed by `bytes`.
    static func crc32(_ bytes: UnsafeRawBufferPointer, continuing start: UInt32 = 0) -> UInt32 {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return start }
        // zlib reads exactly `count` bytes from `base`, which the caller holds.
        let checksum = unsafe crc32_z(uLong(start), base.assumingMemoryBound(to: Bytef.self), bytes.count)
        return UInt32(truncatingIfNeeded: checksum)
    }
}
