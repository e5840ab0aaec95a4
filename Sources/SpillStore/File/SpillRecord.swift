/// Where one chunk lies in the segment file, and how to know it again: all that must stay in memory to bring it back.
/// 24 bytes, trivial; 40 with the package trait `Encryption`.
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
    /// CRC-32 of the payload: of the frame's bytes in the file, unless they are sealed.
    package let checksum: UInt32
    /// The plain length in the lower 24 bits, the place in the unit, in grains, in the upper 8.
    private let plain: UInt32
    /// The lower 16 bits of the stored length; its other 7 bits, below the bit that says that the unit is shared.
    private let storedLow: UInt16
    private let storedHigh: UInt8
    /// How the payload is encoded.
    package let codec: Codec
    /// What opens the frame, where it is sealed.
    package var seal = FrameSeal()

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - storedLength: less than 2²³.
    ///   - plainLength: less than 2²⁴.
    ///   - grain: where in its unit the frame begins, in steps of `FrameLayout.grain`.
    ///   - isShared: whether other frames live in the unit.
    package init(
        generation: UInt64,
        unit: UInt32,
        storedLength: UInt32,
        plainLength: UInt32,
        codec: Codec,
        checksum: UInt32 = 0,
        grain: UInt8 = 0,
        isShared: Bool = false
    ) {
        precondition(storedLength < 1 << 23 && plainLength < 1 << 24, "A frame is far shorter than 8 MiB.")
        self.generation = generation
        self.unit = unit
        self.checksum = checksum
        plain = plainLength | UInt32(grain) << 24
        storedLow = UInt16(truncatingIfNeeded: storedLength)
        storedHigh = UInt8(truncatingIfNeeded: storedLength >> 16) | (isShared ? 0x80 : 0)
        self.codec = codec
    }

    /// Bytes of the chunk in memory.
    package var plainLength: UInt32 { plain & 0xFF_FFFF }

    /// Bytes of the frame in the file.
    package var storedLength: UInt32 { UInt32(storedHigh & 0x7F) << 16 | UInt32(storedLow) }

    /// Whether other frames live in the frame's unit, or lived there when it was written.
    var isShared: Bool { storedHigh & 0x80 != 0 }

    /// The units the frame occupies, alone or with others.
    package var extent: Extent {
        Extent(start: unit, count: UInt32(ExtentAllocator.units(forByteCount: Int(storedLength))))
    }

    /// Where the frame begins, in bytes.
    var offset: Int64 { Int64(unit) * Int64(ExtentAllocator.unitSize) + Int64(plain >> 24) * Int64(FrameLayout.grain) }

    /// Bytes of disk the frame keeps from others: `storedLength` rounded up to whole units, or to grains in a unit that
    /// is shared.
    package var occupiedBytes: Int {
        guard isShared else { return Int(extent.count) * ExtentAllocator.unitSize }
        return (Int(storedLength) + FrameLayout.grain - 1) / FrameLayout.grain * FrameLayout.grain
    }
}
