/// Where one chunk lies in the segment file, and how to know it again: all that must stay in memory to bring it back.
/// 24 bytes, trivial.
///
/// The checksum is kept here and not in the file. A value of whole pages then takes whole units, at offsets that the
/// page cache serves with large folios: with a header of 32 bytes before every chunk, one-thread writes of 256 KiB
/// chunks reached 0.8 of their speed without (ext4, Linux 6.18). And a frame that is sound in itself but not the one
/// that was written, an older one or one from elsewhere, does not pass, since its own word is not asked for.
package struct SpillRecord: Hashable, Sendable {
    /// Unique among all frames the file ever held, so that no two records are equal.
    package let generation: UInt64
    /// Where the frame begins, in units of 4 KiB.
    package let unit: UInt32
    /// CRC-32 of the frame's bytes in the file.
    package let checksum: UInt32
    /// Bytes of the chunk in memory.
    package let plainLength: UInt32
    /// The lower 16 and the upper 8 bits of `storedLength`, which leave room for the codec.
    private let storedLow: UInt16
    private let storedHigh: UInt8
    /// How the payload is encoded.
    package let codec: Codec

    /// Creates a record. `storedLength` has 24 bits.
    package init(
        generation: UInt64,
        unit: UInt32,
        storedLength: UInt32,
        plainLength: UInt32,
        codec: Codec,
        checksum: UInt32 = 0
    ) {
        precondition(storedLength < 1 << 24, "A frame is far shorter than 16 MiB.")
        self.generation = generation
        self.unit = unit
        self.checksum = checksum
        self.plainLength = plainLength
        storedLow = UInt16(truncatingIfNeeded: storedLength)
        storedHigh = UInt8(truncatingIfNeeded: storedLength >> 16)
        self.codec = codec
    }

    /// Bytes of the frame in the file.
    package var storedLength: UInt32 { UInt32(storedHigh) << 16 | UInt32(storedLow) }

    /// The units the frame occupies.
    var extent: Extent {
        Extent(start: unit, count: UInt32(ExtentAllocator.units(forByteCount: Int(storedLength))))
    }

    /// Where the frame begins, in bytes.
    var offset: Int64 { Int64(unit) * Int64(ExtentAllocator.unitSize) }

    /// Bytes of disk the frame occupies: `storedLength` rounded up to whole units.
    package var occupiedBytes: Int { Int(extent.count) * ExtentAllocator.unitSize }
}
