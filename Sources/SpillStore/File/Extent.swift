/// A run of whole units in the spill file.
package struct Extent: Hashable, Sendable {
    /// The first unit.
    var start: UInt32
    /// The number of units.
    package var count: UInt32

    /// The unit behind the last.
    var end: UInt32 { start + count }

    /// Where it lies in the file.
    var bytes: Range<Int64> {
        let unit = Int64(ExtentAllocator.unitSize)
        return Int64(start) * unit..<Int64(end) * unit
    }
}
