import Synchronization

/// What of a saved state belongs to one cache, until the cache claims it.
struct SavedCache: Sendable {
    var cache: StateManifest.Cache
    /// The file with the values.
    var file: SegmentFile
}

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

extension PressureController {
    /// Whether ``PressureManager/saveState(to:version:)`` includes this controller and all below it, and
    /// ``PressureManager/restoreState(from:version:)`` looks for them. `true` unless set.
    public var isRestorable: Bool {
        get { state.withLock { $0.isRestorable } }
        set { state.withLock { $0.isRestorable = newValue } }
    }

    /// Gives a cache what was saved of it, if anything was. Returns whether it was.
    @discardableResult
    func claimSaved(_ entry: CacheEntry) -> Bool {
        guard entry.traits.isRestorable.load(ordering: .relaxed) else { return false }
        guard let saved = state.withLock({ $0.saved.removeValue(forKey: entry.name) }) else { return false }
        return entry.adopt(saved)
    }
}
