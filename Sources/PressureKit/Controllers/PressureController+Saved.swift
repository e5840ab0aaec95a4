import PressureSystem
import Synchronization

extension PressureController {
    /// Whether ``PressureManager/saveState(to:version:)`` includes this controller and all below it, and
    /// ``PressureManager/restoreState(from:version:)`` looks for them. `true` unless set.
    public var isRestorable: Bool {
        get { state.withLock { $0.isRestorable } }
        set { state.withLock { $0.isRestorable = newValue } }
    }

    /// Gives a cache what was saved of it, if anything was. Returns its bytes on disk.
    ///
    /// - Throws: ``PressureError`` with `stateMismatch` when what was saved is not what the cache holds.
    func takeSaved(_ entry: CacheEntry) throws(PressureError) -> Int? {
        guard entry.traits.isRestorable.load(ordering: .relaxed) else { return nil }
        guard let saved = state.withLock({ $0.saved.removeValue(forKey: entry.name) }) else { return nil }
        return try entry.adopt(saved)
    }

    /// The same for a cache that is registered when nobody waits for a report. Returns whether anything was saved.
    @discardableResult
    func claimSaved(_ entry: CacheEntry) -> Bool {
        do {
            return try takeSaved(entry) != nil
        } catch {
            context?.note(error)
            return false
        }
    }
}
