import CZlib
import Glibc
import SpillStore

/// What a value is, without the value: enough to tell whether another one is the same.
///
/// Two checksums that have nothing in common, the length, and what the bytes are in whatever order: made to notice accidents,
/// not adversaries.
package struct ValueDigest: Hashable, Sendable {
    /// The bytes that the value writes.
    package private(set) var byteCount = 0
    /// Which value its cache had.
    package let variant: CacheVariant
    private var crc: UInt32 = 0
    private var adler: UInt32 = 1
    /// A sum over all bytes of a number that each has.
    private var sum: UInt64 = 0

    /// Of no bytes yet.
    init(variant: CacheVariant) { self.variant = variant }

    init(_ bytes: RawSpan, variant: CacheVariant) {
        self.init(variant: variant)
        // The span lasts for the call.
        unsafe bytes.withUnsafeBytes { unsafe add($0) }
    }

    /// Takes in the bytes that follow.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: Bytef.self) else { return }
        byteCount += bytes.count
        // Both read `count` bytes, which the caller holds.
        crc = unsafe Checksum.crc32(bytes, continuing: crc)
        adler = unsafe UInt32(truncatingIfNeeded: adler32_z(uLong(adler), base, bytes.count))
        for index in 0..<bytes.count {
            // The finish of SplitMix64 (Steele, Lea, Flood 2014): sums of other bytes are other sums.
            var number = (unsafe UInt64(bytes[index]) &+ 1) &* 0x9E37_79B9_7F4A_7C15
            number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
            sum &+= number ^ number >> 27
        }
    }

    /// Whether both have the same bytes, in whatever order.
    package func hasSameBytes(as other: ValueDigest) -> Bool { byteCount == other.byteCount && sum == other.sum }
}

/// A value that was read once, and can be read again.
package struct DigestedValue: Sendable {
    /// Where it is: the path of its cache, with the key if there are many.
    package let path: String
    /// What it was.
    package let digest: ValueDigest
    /// Reads it again, as a reader would; `nil` for a value that cannot be encoded now. Blocks.
    package let read: @Sendable () throws -> ValueDigest?
}
