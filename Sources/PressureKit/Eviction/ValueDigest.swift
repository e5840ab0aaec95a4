import CZlib
import Glibc
import SpillStore

/// What a value is, without the value: enough to tell whether another one is the same.
///
/// Two checksums that have nothing in common, and the length: made to notice accidents, not adversaries.
package struct ValueDigest: Hashable, Sendable {
    /// The bytes that the value writes.
    package let byteCount: Int
    /// Which value its cache had.
    package let variant: CacheVariant
    private let crc: UInt32
    private let adler: UInt32

    init(_ bytes: RawSpan, variant: CacheVariant) {
        byteCount = bytes.byteCount
        self.variant = variant
        // Both read the bytes of the span, which lasts for the call.
        (crc, adler) = unsafe bytes.withUnsafeBytes { bytes in
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: Bytef.self) else { return (0, 1) }
            let adler = unsafe adler32_z(1, base, bytes.count)
            return unsafe (Checksum.crc32(bytes), UInt32(truncatingIfNeeded: adler))
        }
    }
}

/// A value that was read once, and can be read again.
package struct WitnessedValue: Sendable {
    /// Where it is: the path of its cache, with the key if there are many.
    package let path: String
    /// What it was.
    package let digest: ValueDigest
    /// Reads it again, as a reader would; `nil` for a value that cannot be encoded now. Blocks.
    package let read: @Sendable () throws -> ValueDigest?
}
