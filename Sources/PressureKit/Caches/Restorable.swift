import Synchronization

extension LazyCache {
    /// Whether ``PressureManager/saveState(to:version:)`` includes the value. `true` unless set.
    public var isRestorable: Bool {
        get { entry.traits.isRestorable.load(ordering: .relaxed) }
        set { entry.traits.isRestorable.store(newValue, ordering: .relaxed) }
    }
}

extension KeyedCache {
    /// Whether ``PressureManager/saveState(to:version:)`` includes the values. `true` unless set. Values are saved whose
    /// keys can be written as a string and read from it (`LosslessStringConvertible`, as `Int` and `String` are).
    public var isRestorable: Bool {
        get { entry.traits.isRestorable.load(ordering: .relaxed) }
        set { entry.traits.isRestorable.store(newValue, ordering: .relaxed) }
    }
}
