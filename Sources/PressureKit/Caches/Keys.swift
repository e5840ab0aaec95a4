extension KeyedCache {
    /// The keys that have a value, in memory or in a copy, in no order. A key that is being loaded for the first time has
    /// none yet.
    ///
    /// A snapshot: a key that has a value throughout the call is in it, once; one that comes or goes meanwhile may be.
    /// Copies every key, so that it takes as long as there are many; a 32nd part of the cache is locked at a time, and its
    /// readers wait meanwhile. Reads no value and notes no use.
    public var keys: [Key] { entry.keys }

    /// Whether there is a value for `key`, in memory or in a copy. Loads and restores nothing, waits for nothing, and is
    /// no use of the value. It may have gone by the time you look at the answer: `valueIfPresent(for:)` asks and reads
    /// in one step.
    public func contains(_ key: Key) -> Bool { entry.contains(key) }

    /// Discards all values and their copies, as ``invalidate(for:)`` does one by one: whoever is reading a value keeps
    /// it, and who waits for a load loads anew.
    ///
    /// What others set meanwhile may stay. Takes as long as that many calls, and waits for no reader.
    ///
    /// - Precondition: not called from inside ``update(for:_:)`` of this cache.
    public func removeAll() { entry.removeAll() }
}

extension AsyncKeyedCache {
    /// The keys that have a value, in memory or in a copy, in no order: a snapshot, which copies every key, as
    /// ``KeyedCache/keys`` does. A key that is being loaded for the first time has none yet. Does not suspend.
    public var keys: [Key] { entry.keys }

    /// Whether there is a value for `key`, in memory or in a copy. Loads and restores nothing, waits for nothing, and is
    /// no use of the value. It may have gone by the time you look at the answer: ``valueIfPresent(for:)`` asks and reads
    /// in one step.
    public func contains(_ key: Key) -> Bool { entry.contains(key) }

    /// Discards all values and their copies, as ``invalidate(for:)`` does one by one: whoever is reading a value keeps
    /// it, and who waits for a load loads anew.
    ///
    /// What others set meanwhile may stay. Takes as long as that many calls, and waits for no reader.
    ///
    /// - Precondition: not called from inside ``update(for:_:)`` of this cache.
    public func removeAll() { entry.removeAll() }
}
