import Synchronization

extension LazyCache {
    /// Which value the cache has; `full` also when it has none. See ``withVariant(_:)`` for a reader's own.
    public var variant: CacheVariant { entry.variant }

    /// Passes the value to `body`, as ``withValue(_:)`` does, and which one it is.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func withVariant<Result>(_ body: (Value, CacheVariant) throws -> Result) throws -> Result {
        let reading = try entry.read()
        defer { entry.end(reading) }
        return unsafe try body(reading.value.pointee, reading.slot.header.pointee.loadedVariant)
    }
}

extension SlotHeader {
    /// Which value is in the slot.
    var loadedVariant: CacheVariant { CacheVariant(rawValue: variant.load(ordering: .relaxed)) ?? .full }
}
