public import PressureSignals
public import PressureSystem
import Synchronization

/// Registering caches whose loaders suspend. A closure with an `await` in it gives one of these, any other one a cache
/// whose loader blocks: nothing has to be written to tell them apart.
extension PressureController {
    /// A cache whose value `loader` makes on first access, suspending as it likes, and again whenever it was dropped;
    /// with `alternate`, a lighter value while memory is short.
    ///
    /// A loader runs in a task of its own, as urgent as whoever waits for it, and with the task-local values of the first
    /// reader. What it throws, every waiting reader gets; the next access runs it again. It is cancelled when nobody waits
    /// for it any more.
    ///
    /// `alternate` is as in a cache whose loader blocks.
    ///
    /// - Parameters:
    ///   - name: What the cache is called in paths and reports.
    ///   - options: What may become of the value. A limit is for keyed caches.
    ///   - level: `warning` or `critical`.
    ///   - alternate: Makes the lighter value.
    ///   - loader: Makes the full value.
    /// - Throws: ``PressureError`` with `duplicateIdentifier` or `invalidConfiguration`.
    public func cache<Value: Spillable>(
        _ name: String,
        options: CacheOptions = CacheOptions(),
        alternateFrom level: PressureLevel = .warning,
        alternate: (@Sendable () async throws -> Value)? = nil,
        loader: @escaping @Sendable () async throws -> Value
    ) throws(PressureError) -> AsyncLazyCache<Value> {
        guard let alternate else {
            let entry = try lazy(name, options) { Loaded(value: try await loader()) }
            try admit(entry)
            return AsyncLazyCache(entry: entry)
        }
        let choice = Alternate(from: level)
        let entry = try lazy(name, options) { [weak self] in
            let level = self?.context?.scene.level ?? .normal
            let (value, variant) = try await choice.load(at: level, full: loader, lighter: alternate)
            return Loaded(value: value, variant: variant)
        }
        _ = entry.traits.alternate.storeIfNil(choice)
        try admit(entry)
        return AsyncLazyCache(entry: entry)
    }

    /// A cache of many values by key, each made by `loader` on first access, suspending as it likes, and again whenever
    /// it was dropped.
    ///
    /// - Parameters:
    ///   - name: What the cache is called in paths and reports.
    ///   - options: How much it keeps in memory on its own, and what may become of its values.
    ///   - loader: Runs in a task of its own for each key, as urgent as whoever waits for it, and is cancelled when nobody
    ///     does any more.
    /// - Throws: ``PressureError`` with `duplicateIdentifier` or `invalidConfiguration`.
    public func keyedCache<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        options: CacheOptions = CacheOptions(),
        loader: @escaping @Sendable (Key) async throws -> Value
    ) throws(PressureError) -> AsyncKeyedCache<Key, Value> {
        let entry = KeyedEntry<Key, Value>(
            name: name,
            host: self,
            supported: options.supportedDispositions,
            limit: options.limit,
            countLimit: options.countLimit,
            lifetime: try endings(name, options, hasLoader: true),
            loader: nil,
            suspendingLoader: loader
        )
        try admit(entry)
        return AsyncKeyedCache(entry: entry)
    }

    private func lazy<Value: Spillable>(
        _ name: String,
        _ options: CacheOptions,
        loader: @escaping SuspendingLoader<Value>
    ) throws(PressureError) -> LazyEntry<Value> {
        try checkOptionsOfOne(name, options)
        return LazyEntry(
            name: name,
            host: self,
            supported: options.supportedDispositions,
            lifetime: try endings(name, options, hasLoader: true),
            loader: nil,
            suspendingLoader: loader
        )
    }

    private func admit(_ entry: CacheEntry) throws(PressureError) {
        try register(entry)
        claimSaved(entry)
    }

    /// Takes a cache whose loader suspends out of the tree, as ``removeCache(_:)`` does.
    public func removeCache<Value: Spillable>(_ cache: AsyncLazyCache<Value>) { remove(cache.entry) }

    /// Takes a keyed cache whose loader suspends out of the tree, as ``removeCache(_:)`` does.
    public func removeCache<Key, Value>(_ cache: AsyncKeyedCache<Key, Value>) { remove(cache.entry) }
}
