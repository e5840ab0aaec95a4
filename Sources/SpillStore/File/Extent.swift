/// A run of whole units in the spill file.
package struct Extent: Hashable, Sendable {
    /// The first unit.
    var start: UInt32
    /// The number of units.
    package var count: UInt32

    /// The unit behind the last.
    var end: UInt32 { start + count }
}
