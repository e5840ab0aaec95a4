import PressureSystem
import Synchronization

/// Registering caches.
extension PressureController {
    /// A cache whose value `loader` makes on first access, and again whenever it was dropped.
    ///
    /// `loader` runs on the thread of the first reader, or on one of the library's for an `async` reader, with no lock
    /// held. What it throws, every waiting reader gets; the next access runs it again. If the controller has a cache
    /// `name` already, the new one is called `"name#2"`.
    public func cache<Value: Spillable>(
        _ name: String,
        loader: @escaping @Sendable () throws -> Value
    ) -> LazyCache<Value> {
        register(name, initialValue: nil, loader: loader)
    }

    /// A cache of a value that cannot be made again. It is never dropped: it is in memory, or in a checked copy in the
    /// spill file.
    ///
    /// If the controller has a cache `name` already, the new one is called `"name#2"`.
    public func cache<Value: Spillable>(_ name: String, initialValue: consuming Value) -> LazyCache<Value> {
        register(name, initialValue: initialValue, loader: nil)
    }

    /// A cache of a value that cannot be made again and is not there yet: reading it throws `noValue` until it is set.
    ///
    /// If the controller has a cache `name` already, the new one is called `"name#2"`.
    public func cache<Value: Spillable>(_ name: String, of type: Value.Type) -> LazyCache<Value> {
        register(name, initialValue: nil, loader: nil)
    }

    /// A cache of many values by key, each made by `loader` on first access, and again whenever it was dropped.
    ///
    /// - Parameters:
    ///   - name: what the cache is called in paths and reports.
    ///   - limit: the bytes of values in memory that the cache keeps to on its own, without any pressure; `nil` for no
    ///     limit.
    ///   - countLimit: the number of values in memory, likewise.
    ///   - loader: runs on the thread of the first reader, or on one of the library's for an `async` reader, with no lock
    ///     held.
    ///
    /// If the controller has a cache `name` already, the new one is called `"name#2"`.
    public func keyedCache<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        limit: ByteCount? = nil,
        countLimit: Int? = nil,
        loader: @escaping @Sendable (Key) throws -> Value
    ) -> KeyedCache<Key, Value> {
        registerKeyed(name, limit: limit, countLimit: countLimit, loader: loader)
    }

    /// A cache of many values by key that cannot be made again: they are set, and never dropped.
    ///
    /// If the controller has a cache `name` already, the new one is called `"name#2"`.
    public func keyedCache<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        limit: ByteCount? = nil,
        countLimit: Int? = nil,
        key: Key.Type,
        value: Value.Type
    ) -> KeyedCache<Key, Value> {
        registerKeyed(name, limit: limit, countLimit: countLimit, loader: nil)
    }

    // MARK: With dispositions of their own

    /// A cache with a loader whose value may leave memory in some ways only. As ``cache(_:loader:)`` otherwise.
    ///
    /// - Throws: ``PressureError`` with `invalidConfiguration`, which names the sets of the cache, this controller and the
    ///   manager, when they have nothing in common. No cache is registered then.
    public func cache<Value: Spillable>(
        _ name: String,
        supportedDispositions: Disposition,
        loader: @escaping @Sendable () throws -> Value
    ) throws(PressureError) -> LazyCache<Value> {
        try agreed(register(name, supportedDispositions, initialValue: nil, loader: loader))
    }

    /// A cache of a value that cannot be made again, which may leave memory in some ways only. As
    /// ``cache(_:initialValue:)`` otherwise.
    ///
    /// - Throws: ``PressureError`` with `invalidConfiguration`, as its twin with a loader. No cache is registered then.
    public func cache<Value: Spillable>(
        _ name: String,
        supportedDispositions: Disposition,
        initialValue: consuming Value
    ) throws(PressureError) -> LazyCache<Value> {
        try agreed(register(name, supportedDispositions, initialValue: initialValue, loader: nil))
    }

    /// A cache of many values by key that may leave memory in some ways only. As ``keyedCache(_:limit:countLimit:loader:)``
    /// otherwise.
    ///
    /// - Throws: ``PressureError`` with `invalidConfiguration`, as ``cache(_:supportedDispositions:loader:)``.
    public func keyedCache<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        supportedDispositions: Disposition,
        limit: ByteCount? = nil,
        countLimit: Int? = nil,
        loader: @escaping @Sendable (Key) throws -> Value
    ) throws(PressureError) -> KeyedCache<Key, Value> {
        let cache = registerKeyed(
            name,
            supportedDispositions,
            limit: limit,
            countLimit: countLimit,
            loader: loader
        )
        try agree(on: cache.entry)
        return cache
    }

    private func agreed<Value>(_ cache: LazyCache<Value>) throws(PressureError) -> LazyCache<Value> {
        try agree(on: cache.entry)
        return cache
    }

    private func agree(on entry: CacheEntry) throws(PressureError) {
        do throws(PressureError) {
            try agree(on: entry, manager: context?.scene.dispositions)
        } catch {
            remove(entry)
            throw error
        }
    }

    private func registerKeyed<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        _ supported: Disposition = .all,
        limit: ByteCount?,
        countLimit: Int?,
        loader: (@Sendable (Key) throws -> Value)?
    ) -> KeyedCache<Key, Value> {
        let entry = state.withLock { state in
            let name = Self.take(name, from: &state.names)
            let entry = KeyedEntry<Key, Value>(
                name: name,
                host: self,
                supported: supported,
                limit: limit,
                countLimit: countLimit,
                loader: loader
            )
            state.entries.append(entry)
            return entry
        }
        join(entry)
        claimSaved(entry)
        return KeyedCache(entry: entry)
    }

    private func register<Value: Spillable>(
        _ name: String,
        _ supported: Disposition = .all,
        initialValue: consuming Value?,
        loader: (@Sendable () throws -> Value)?
    ) -> LazyCache<Value> {
        let entry = state.withLock { state in
            let entry = LazyEntry<Value>(
                name: Self.take(name, from: &state.names),
                host: self,
                supported: supported,
                loader: loader
            )
            state.entries.append(entry)
            return entry
        }
        join(entry)
        // Outside the lock: a value may run code of the app when it is asked for its size.
        if claimSaved(entry) { return LazyCache(entry: entry) }
        if let initialValue { entry.initialize(with: initialValue) }
        return LazyCache(entry: entry)
    }

    /// Has the manager, if there is one, make room for a new cache, and agrees with it on what may become of its values:
    /// that they stay, if the three sets have nothing in common. Who restricts a cache's own set is told so instead.
    private func join(_ entry: CacheEntry) {
        let context = context
        do throws(PressureError) {
            try agree(on: entry, manager: context?.scene.dispositions)
        } catch {
            entry.traits.agree(on: .keep)
        }
        context?.adopt(entry)
    }

    /// The name, or with a number behind it if it is taken; taken from now on.
    private static func take(_ name: String, from names: inout Set<String>) -> String {
        if names.insert(name).inserted { return name }
        var number = 2
        while !names.insert("\(name)#\(number)").inserted { number += 1 }
        return "\(name)#\(number)"
    }

    /// Takes a cache out of the tree: no warning reaches it any more. Its value stays where it is, and is destroyed with
    /// its copy when the last reference to the cache goes.
    ///
    /// Does nothing for a cache of another controller.
    public func removeCache<Value: Spillable>(_ cache: LazyCache<Value>) { remove(cache.entry) }

    /// Takes a keyed cache out of the tree, as ``removeCache(_:)`` does.
    public func removeCache<Key, Value>(_ cache: KeyedCache<Key, Value>) { remove(cache.entry) }

    private func remove(_ entry: CacheEntry) {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0 === entry }) else { return }
            state.entries.remove(at: index)
            state.names.remove(entry.name)
        }
    }
}
