import PressureSystem
import Synchronization

/// Many values by key, each loaded when it is first used, leaving memory under pressure, and coming back on the next
/// access.
///
/// ```swift
/// let tiles = try gallery.keyedCache("tiles", options: .init(limit: .mebibytes(512))) { (id: TileID) in try decode(id) }
/// let tile = try await tiles.value(for: id)
/// ```
///
/// Each value behaves as a ``LazyCache`` of its own: one load however many ask, pins while in use, spilled or dropped,
/// restored or loaded again. Above its limit the cache evicts by SIEVE, so that a hit moves nothing: it marks the value as
/// used, and the mark is looked at when room is needed.
///
/// A value that was dropped is forgotten with its key; 64 bytes and a key are kept for each other one, and about 30 for
/// finding it. All methods may be called on any thread, and from any hook or loader. The ones that are not `async` block
/// while a value is loaded or restored, or while they make room for one.
///
/// A hit takes no lock, and what is read often is read without a write to anything that other threads read or write.
///
/// A key's `==` and `hash(into:)` are called by whoever looks for a key, some while a part of the cache is locked: they must
/// not use the cache. No other code of the app's is called with anything locked.
public final class KeyedCache<Key: Hashable & Sendable, Value: Spillable>: Sendable {
    @usableFromInline let entry: KeyedEntry<Key, Value>

    init(entry: KeyedEntry<Key, Value>) { self.entry = entry }

    // MARK: Reading

    /// Passes the value for `key` to `body`, loading or restoring it first if need be, and keeps it in memory until
    /// `body` returns.
    ///
    /// - Throws: what `body` throws; the loader's own error, which every waiting reader gets, and the next access tries
    ///   again; or ``PressureError`` with `noValue`, `restoreFailed`, `damagedCopy` or `recursiveAccess`.
    @inlinable
    public func withValue<Result>(for key: Key, _ body: (Value) throws -> Result) throws -> Result {
        let reading = try entry.read(key)
        defer { entry.end(reading) }
        return unsafe try body(reading.value.pointee)
    }

    /// The value for `key`, loaded or restored first if need be. Blocks as ``withValue(for:_:)`` does.
    ///
    /// - Throws: as ``withValue(for:_:)``.
    public func value(for key: Key) throws -> Value { try withValue(for: key) { $0 } }

    /// The value for `key`, without ever blocking the calling thread: loaders, restores and making room run on threads of
    /// the library's own.
    ///
    /// - Throws: as ``withValue(for:_:)``.
    public func value(for key: Key) async throws -> Value {
        if let value = ifLoaded(for: key, { $0 }) { return value }
        return try await lease(for: key).value
    }

    /// Keeps the value for `key` in memory for as long as the lease lives. Suspends while it is made.
    ///
    /// - Throws: as ``withValue(for:_:)``.
    public func lease(for key: Key) async throws -> Lease<Value> {
        Lease(slot: try await entry.acquire(key), entry: entry)
    }

    /// Passes the value for `key` to `body` if it is in memory; otherwise returns `nil`. Never loads, never waits.
    ///
    /// - Throws: what `body` throws.
    @inlinable
    public func ifLoaded<Result, Failure: Error>(
        for key: Key,
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let reading = entry.readIfResident(key) else { return nil }
        defer { entry.end(reading) }
        return unsafe try body(reading.value.pointee)
    }

    /// Loads or restores the value for `key` if it is not in memory. Blocks.
    ///
    /// - Throws: as ``withValue(for:_:)``.
    public func loadIfNeeded(for key: Key) throws { try withValue(for: key) { _ in } }

    // MARK: Writing

    /// Puts a value in place of the one for `key`, if any. Readers keep the old one for as long as they use it.
    ///
    /// A value that was set is never dropped, loader or no loader, until it is invalidated: the loader does not make it.
    ///
    /// When that leaves too little memory, the calling thread waits until some is freed: for a second, and longer while
    /// memory comes free slowly and the overdraft is used up. A task that is not to occupy its thread meanwhile uses an
    /// ``AsyncKeyedCache``.
    ///
    /// - Precondition: not called from inside ``update(for:_:)`` of the same key.
    public func set(_ value: consuming Value, for key: Key) {
        let size = ValueSize(value)
        entry.replace(key, with: value, size)
        entry.waitForRoom(after: size.footprint)
    }

    /// Changes the value for `key` in place, or a copy of it while readers hold it. Loads or restores it first.
    ///
    /// `body` runs again if the value is replaced by someone else while a copy of it is being changed. Where the value grows, and
    /// that leaves too little memory, waits afterwards as ``set(_:for:)`` does.
    ///
    /// - Throws: what `body` throws, or as ``withValue(for:_:)``.
    public func update<Result>(for key: Key, _ body: (inout Value) throws -> Result) throws -> Result {
        try entry.update(key, body)
    }

    /// Discards the value for `key` and its copy; the next access loads anew, or throws `noValue` without a loader.
    ///
    /// - Precondition: not called from inside ``update(for:_:)`` of the same key.
    public func invalidate(for key: Key) { entry.replace(key, with: nil, nil) }

    // MARK: State

    /// What a keyed cache has counted since it was made.
    public struct Statistics: Sendable, Hashable {
        /// Accesses that found the value in memory.
        public var hits: Int
        /// Values that the loader made.
        public var loads: Int
        /// Values that were read back from the spill file.
        public var restores: Int
        /// Values that left memory.
        public var evictions: Int
        /// Loads, spills and restores that failed.
        public var failures: Int

        init(of entry: KeyedEntry<Key, Value>) {
            hits = entry.hits
            loads = entry.statistics.loads.load(ordering: .relaxed)
            restores = entry.statistics.restores.load(ordering: .relaxed)
            evictions = entry.statistics.evictions.load(ordering: .relaxed)
            failures = entry.statistics.failures.load(ordering: .relaxed)
        }
    }

    /// Hits, loads, restores, evictions and failures so far. Takes every shard's lock in turn.
    public var statistics: Statistics { Statistics(of: entry) }

    /// Where the value for `key` is at this moment.
    public func residency(for key: Key) -> Residency { entry.residency(of: key) }

    /// The keys the cache knows: those of values in memory, in copies, and on their way, which ``keys`` leaves out. Takes
    /// every shard's lock in turn.
    public var count: Int { entry.count }

    /// The bytes of the values in memory.
    public var residentByteCount: ByteCount { ByteCount(bytes: entry.footprint) }

    /// The name it was registered with.
    public var name: String { entry.name }

    /// Where it is in the tree of controllers, such as `"gallery/tiles"`.
    public var path: String { entry.path }

    /// The bytes of slots and tables, keys and values in place included. Takes every shard's lock in turn.
    package var bookkeepingByteCount: Int { entry.bookkeepingByteCount }
}
