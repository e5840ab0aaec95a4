import PressureSignals
import PressureSystem
import Synchronization

extension PressureController {
    /// A cache with a lighter alternate: a load at `level` or above makes that instead.
    ///
    /// What is in memory when the level rises stays what it is; what is loaded from then on is the lighter value. When
    /// the level has fallen below `level`, the full value is loaded in the background and takes the lighter one's place;
    /// readers have the lighter one until then. ``LazyCache/withVariant(_:)`` says which a reader got. A lighter value
    /// that was changed stays, since no loader makes that.
    ///
    /// - Parameters:
    ///   - name: what the cache is called in paths and reports.
    ///   - level: `warning` or `critical`.
    ///   - alternate: makes the lighter value. Called as `loader` is.
    ///   - loader: makes the full value.
    public func cache<Value: Spillable>(
        _ name: String,
        alternateFrom level: PressureLevel,
        alternate: @escaping @Sendable () throws -> Value,
        loader: @escaping @Sendable () throws -> Value
    ) -> LazyCache<Value> {
        let choice = Alternate(from: level)
        let cache = cache(name) { [weak self] in
            let level = self?.context?.scene.level ?? .normal
            return try choice.load(at: level, full: loader, lighter: alternate)
        }
        _ = cache.entry.traits.alternate.storeIfNil(choice)
        return cache
    }

    /// Has the full values of this controller and all below it loaded in the background, now that the level is `level`.
    func bringFullBack(at level: PressureLevel) {
        var entries: [(entry: CacheEntry, isVisible: Bool)] = []
        collectEntries(into: &entries)
        let due = entries.filter { entry, _ in
            guard let alternate = entry.traits.alternate.load() else { return false }
            return alternate.level > level && entry.variant == .alternate
        }
        guard !due.isEmpty else { return }
        // Visible ones first: somebody looks at them.
        let ordered = due.filter(\.isVisible) + due.filter { !$0.isVisible }
        Task { [weak context] in
            for (entry, _) in ordered {
                guard let scene = context?.scene, let alternate = entry.traits.alternate.load(),
                    scene.level < alternate.level
                else { return }
                // A loader that fails has told its failure; the lighter value stays.
                try? await BlockingPool.shared.run { try entry.bringFullBack() }
            }
        }
    }
}
