public import Synchronization

/// The logical clock by which caches remember when they were last used.
///
/// One for the process, so that reading it costs a hot access one load of a line that is rarely written; a manager's own
/// would have to be found first. Managers share nothing by it but how fast ages grow, and only ages are compared. It moves on
/// with every load, restore, write and reclaim, not with every hit: hits between two such events count as
/// simultaneous, which is all that an order of eviction needs. 32 bits wrap; ages are differences, so they survive it.
@usableFromInline
package enum UseClock {
    @usableFromInline static let counter = Atomic<UInt32>(1)

    /// The present reading.
    @inlinable
    package static var now: UInt32 { counter.load(ordering: .relaxed) }

    /// Moves the clock on and returns the new reading.
    package static func tick() -> UInt32 { counter.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Whether a reading was taken after another one, which is not half of all readings older.
    ///
    /// The type of the bound is written out: `a &- b &- 1 < .max / 2` compares with half of all `Int`s, and holds always.
    package static func isReading(_ reading: UInt32, after other: UInt32) -> Bool {
        reading != other && reading &- other < UInt32.max / 2
    }
}
