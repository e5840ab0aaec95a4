import Synchronization

/// A lighter value in place of the full one while memory is short, as another interface stands in for another
/// orientation: a smaller picture, a coarser index.
final class Alternate: Sendable {
    /// At this level and above the lighter loader runs.
    let level: PressureLevel
    /// Of the loads that are running, by thread: whether they made the lighter value.
    private let made = Lock<[UInt32: Bool]>([:])

    init(from level: PressureLevel) { self.level = level }

    /// Runs the loader that the level calls for.
    func load<Value>(
        at current: PressureLevel,
        full: () throws -> Value,
        lighter: () throws -> Value
    ) rethrows -> Value {
        let isLighter = current >= level
        let value = isLighter ? try lighter() : try full()
        made.withLock { $0[.currentThread] = isLighter }
        return value
    }

    /// Whether the load that this thread has just ended made the lighter value.
    func takeMade() -> Bool { made.withLock { $0.removeValue(forKey: .currentThread) } ?? false }
}

/// Which of its values a cache with an alternate has.
public enum CacheVariant: UInt8, Sendable, CaseIterable {
    /// The one that the loader makes, or that was set.
    case full = 0
    /// The lighter one, made while memory was short.
    case alternate = 1
}

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

extension LazyCache {
    /// Which value the cache has; `full` also when it has none. See ``withVariant(_:)`` for a reader's own.
    public var variant: CacheVariant { entry.variant }

    /// Passes the value to `body`, as ``withValue(_:)`` does, and which one it is.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func withVariant<Result>(_ body: (Value, CacheVariant) throws -> Result) throws -> Result {
        let slot = try entry.acquire()
        defer { entry.release(slot) }
        // Pinned.
        return unsafe try body(slot.value.pointee, slot.header.pointee.loadedVariant)
    }
}

extension SlotHeader {
    /// Which value is in the slot.
    var loadedVariant: CacheVariant { CacheVariant(rawValue: variant.load(ordering: .relaxed)) ?? .full }
}
