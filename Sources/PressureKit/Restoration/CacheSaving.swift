import PressureSystem
import SpillStore
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

extension PressureController {
    /// Whether ``PressureManager/saveState(to:version:)`` includes this controller and all below it, and
    /// ``PressureManager/restoreState(from:version:)`` looks for them. `true` unless set.
    public var isRestorable: Bool {
        get { state.withLock { $0.isRestorable } }
        set { state.withLock { $0.isRestorable = newValue } }
    }

    /// Gives a cache what was saved of it, if anything was. Returns whether it was.
    ///
    /// - Throws: ``PressureError`` with `stateMismatch` when what was saved is not what the cache holds.
    func takeSaved(_ entry: CacheEntry) throws(PressureError) -> Bool {
        guard entry.traits.isRestorable.load(ordering: .relaxed) else { return false }
        guard let saved = state.withLock({ $0.saved.removeValue(forKey: entry.name) }) else { return false }
        return try entry.adopt(saved)
    }

    /// The same for a cache that is registered when nobody waits for a report.
    @discardableResult
    func claimSaved(_ entry: CacheEntry) -> Bool {
        do {
            return try takeSaved(entry)
        } catch {
            context?.note(error)
            return false
        }
    }
}

extension PressureError {
    static func stateMismatch(
        _ saved: StateManifest.Cache,
        _ type: String,
        _ layout: ElementLayout?,
        path: String
    ) -> PressureError {
        func words(_ type: String, _ layout: ElementLayout?) -> String {
            guard let layout else { return type }
            return
                "\(type) with elements of \(layout.size) bytes (stride \(layout.stride), alignment \(layout.alignment))"
        }
        return PressureError(
            code: .stateMismatch,
            message: """
                The saved state has \(words(saved.type, saved.layout)) here, and the cache holds \(words(type, layout)): \
                what was saved is not read. Give the app another version when the types of its values change.
                """,
            path: path
        )
    }
}
