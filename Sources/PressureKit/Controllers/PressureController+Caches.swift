public import PressureSignals
import PressureSystem
import Synchronization

/// Registering caches.
///
/// Each throws ``PressureError``, and registers nothing then: with `duplicateIdentifier` when the controller has a cache of
/// that name already, and with `invalidConfiguration` when the options contradict each other, or when what the cache
/// supports, the controller does and the manager does have no disposition in common.
extension PressureController {
    /// A cache whose value `loader` makes on first access, and again whenever it was dropped; with `alternate`, a lighter
    /// value while memory is short.
    ///
    /// A loader runs on the thread of the first reader, or on one of the library's for an `async` reader, with no lock
    /// held. What it throws, every waiting reader gets; the next access runs it again.
    ///
    /// With `alternate`, a load at `level` or above makes that instead. What is in memory when the level rises stays what
    /// it is. When the level has fallen below `level`, the full value is loaded in the background and takes the lighter
    /// one's place; readers have the lighter one until then. ``LazyCache/withVariant(_:)`` says which a reader got. A
    /// lighter value that was changed stays, since no loader makes that.
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
        alternate: (@Sendable () throws -> Value)? = nil,
        loader: @escaping @Sendable () throws -> Value
    ) throws(PressureError) -> LazyCache<Value> {
        let entry: LazyEntry<Value>
        if let alternate {
            let choice = Alternate(from: level)
            entry = try lazy(name, options) { [weak self] in
                let level = self?.context?.scene.level ?? .normal
                return try choice.load(at: level, full: loader, lighter: alternate)
            }
            _ = entry.traits.alternate.storeIfNil(choice)
        } else {
            entry = try lazy(name, options, loader: loader)
        }
        try register(entry)
        claimSaved(entry)
        return LazyCache(entry: entry)
    }

    /// A cache of a value that cannot be made again. It is never dropped: it is in memory, or in a checked copy in the
    /// spill file. Reading it throws `noValue` until it has one.
    ///
    /// - Parameters:
    ///   - name: What the cache is called in paths and reports.
    ///   - type: What it holds; can be left out where the compiler knows.
    ///   - options: What may become of the value. A limit is for keyed caches.
    ///   - initialValue: Its first value, unless a state that was restored has one.
    /// - Throws: ``PressureError`` with `duplicateIdentifier` or `invalidConfiguration`.
    public func cache<Value: Spillable>(
        _ name: String,
        of type: Value.Type = Value.self,
        options: CacheOptions = CacheOptions(),
        initialValue: consuming Value? = nil
    ) throws(PressureError) -> LazyCache<Value> {
        let entry: LazyEntry<Value> = try lazy(name, options, loader: nil)
        try register(entry)
        // Outside the lock: a value may run code of the app when it is asked for its size.
        if !claimSaved(entry), let initialValue { entry.initialize(with: initialValue) }
        return LazyCache(entry: entry)
    }

    /// A cache of many values by key, each made by `loader` on first access, and again whenever it was dropped.
    ///
    /// - Parameters:
    ///   - name: What the cache is called in paths and reports.
    ///   - options: How much it keeps in memory on its own, and what may become of its values.
    ///   - loader: Runs on the thread of the first reader, or on one of the library's for an `async` reader, with no lock
    ///     held.
    /// - Throws: ``PressureError`` with `duplicateIdentifier` or `invalidConfiguration`.
    public func keyedCache<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        options: CacheOptions = CacheOptions(),
        loader: @escaping @Sendable (Key) throws -> Value
    ) throws(PressureError) -> KeyedCache<Key, Value> {
        try registerKeyed(name, options, loader: loader)
    }

    /// A cache of many values by key that cannot be made again: they are set, and never dropped.
    ///
    /// - Parameters:
    ///   - name: What the cache is called in paths and reports.
    ///   - key: What its values are found by; can be left out where the compiler knows.
    ///   - value: What it holds, likewise.
    ///   - options: How much it keeps in memory on its own, and what may become of its values.
    /// - Throws: ``PressureError`` with `duplicateIdentifier` or `invalidConfiguration`.
    public func keyedCache<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        key: Key.Type = Key.self,
        value: Value.Type = Value.self,
        options: CacheOptions = CacheOptions()
    ) throws(PressureError) -> KeyedCache<Key, Value> {
        try registerKeyed(name, options, loader: nil)
    }

    private func lazy<Value: Spillable>(
        _ name: String,
        _ options: CacheOptions,
        loader: (@Sendable () throws -> Value)?
    ) throws(PressureError) -> LazyEntry<Value> {
        try checkOptionsOfOne(name, options)
        return LazyEntry(
            name: name,
            host: self,
            supported: options.supportedDispositions,
            lifetime: try endings(name, options, hasLoader: loader != nil),
            loader: loader
        )
    }

    /// Makes sure that the options are such as a cache with one value can have.
    func checkOptionsOfOne(_ name: String, _ options: CacheOptions) throws(PressureError) {
        guard options.limit == nil, options.countLimit == nil else { throw .limitOfOne(name, path: path) }
    }

    /// For how long the values may be read, if that makes sense.
    func endings(_ name: String, _ options: CacheOptions, hasLoader: Bool) throws(PressureError) -> Lifetime? {
        let (live, idle, refresh) = (options.timeToLive, options.timeToIdle, options.refreshAfter)
        guard [live, idle, refresh].allSatisfy({ $0.map { $0 > .zero } ?? true }) else {
            throw .endings(of: name, "a time of zero or less", "Leave out what does not end.", path: path)
        }
        guard refresh == nil || hasLoader else {
            throw .endings(
                of: name,
                "refreshAfter and no loader",
                "Leave it out, or give the cache a loader.",
                path: path
            )
        }
        if let refresh, let live, refresh >= live {
            throw .endings(
                of: name,
                "a refreshAfter that is not shorter than its timeToLive",
                "A value is refreshed before it ends: make it shorter, or leave one of them out.",
                path: path
            )
        }
        return Lifetime(timeToLive: live, timeToIdle: idle, refreshAfter: refresh)
    }

    private func registerKeyed<Key: Hashable & Sendable, Value: Spillable>(
        _ name: String,
        _ options: CacheOptions,
        loader: (@Sendable (Key) throws -> Value)?
    ) throws(PressureError) -> KeyedCache<Key, Value> {
        let entry = KeyedEntry(
            name: name,
            host: self,
            supported: options.supportedDispositions,
            limit: options.limit,
            countLimit: options.countLimit,
            lifetime: try endings(name, options, hasLoader: loader != nil),
            loader: loader
        )
        try register(entry)
        claimSaved(entry)
        return KeyedCache(entry: entry)
    }

    /// Takes a cache into the tree, if its name is free and there is something that may become of its values; has the
    /// manager, if there is one, make room for it.
    func register(_ entry: CacheEntry) throws(PressureError) {
        let isNew = state.withLock { $0.entries.append(entry) }
        guard isNew else { throw .duplicate(entry.name, path: path) }
        let context = context
        do throws(PressureError) {
            try agree(on: entry, manager: context?.scene.dispositions)
        } catch {
            remove(entry)
            throw error
        }
        context?.adopt(entry)
    }

    /// Takes a cache out of the tree: no warning reaches it any more. Its value stays where it is, and is destroyed with
    /// its copy when the last reference to the cache goes.
    ///
    /// Does nothing for a cache of another controller.
    public func removeCache<Value: Spillable>(_ cache: LazyCache<Value>) { remove(cache.entry) }

    /// Takes a keyed cache out of the tree, as ``removeCache(_:)`` does.
    public func removeCache<Key, Value>(_ cache: KeyedCache<Key, Value>) { remove(cache.entry) }

    func remove(_ entry: CacheEntry) { state.withLock { _ = $0.entries.remove(entry) } }
}

extension PressureError {
    fileprivate static func duplicate(_ name: String, path: String) -> PressureError {
        PressureError(
            code: .duplicateIdentifier,
            message: "There is a cache \"\(name)\" already. Give this one another name, or remove that one first.",
            path: path
        )
    }

    fileprivate static func endings(of name: String, _ what: String, _ advice: String, path: String) -> PressureError {
        PressureError(code: .invalidConfiguration, message: "\"\(name)\" was given \(what). \(advice)", path: path)
    }

    fileprivate static func limitOfOne(_ name: String, path: String) -> PressureError {
        PressureError(
            code: .invalidConfiguration,
            message: "\"\(name)\" holds one value, so it cannot have a limit. Leave it out, or make it a keyed cache.",
            path: path
        )
    }
}
