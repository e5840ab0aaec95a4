/// Where one chunk lies in the segment file: all that must stay in memory to bring it back. 24 bytes, trivial.
package struct SpillRecord: Hashable, Sendable {
    /// Unique among all frames this process ever wrote; a frame found with another number is not ours any more.
    package let generation: UInt64
    /// Where the frame begins, in units of 4 KiB.
    package let unit: UInt32
    /// Bytes of the frame in the file, its header included.
    package let storedLength: UInt32
    /// Bytes of the chunk in memory.
    package let plainLength: UInt32
    /// How the payload is encoded.
    package let codec: Codec

    /// The units the frame occupies.
    var extent: Extent {
        Extent(start: unit, count: UInt32(ExtentAllocator.units(forByteCount: Int(storedLength))))
    }

    /// Where the frame begins, in bytes.
    var offset: Int64 { Int64(unit) * Int64(ExtentAllocator.unitSize) }

    /// Bytes of disk the frame occupies: `storedLength` rounded up to whole units.
    package var occupiedBytes: Int { Int(extent.count) * ExtentAllocator.unitSize }
}
