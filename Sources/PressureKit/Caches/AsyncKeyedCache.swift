public import PressureSystem
import Synchronization

/// Many values by key whose loader suspends, as one that asks a server does; else as ``KeyedCache``.
///
/// ```swift
/// let pages = try site.keyedCache("pages") { (path: String) in try await client.get(path) }
/// let page = try await pages.value(for: "/index.html")
/// ```
///
/// Each value behaves as an ``AsyncLazyCache`` of its own: one load however many ask, which ends when nobody waits for it
/// any more; reading it may suspend, and never blocks. A thousand loaders that wait occupy no thread.
///
/// All methods may be called from any task, and from any hook or loader. A key's `==` and `hash(into:)` must not use the
/// cache.
public final class AsyncKeyedCache<Key: Hashable & Sendable, Value: Spillable>: Sendable {
    @usableFromInline let entry: KeyedEntry<Key, Value>

    init(entry: KeyedEntry<Key, Value>) { self.entry = entry }

    /// What a keyed cache has counted since it was made.
    public typealias Statistics = KeyedCache<Key, Value>.Statistics

    // MARK: Reading

    /// Passes the value for `key` to `body`, loading or restoring it first if need be, and keeps it in memory until
    /// `body` returns. Does not suspend when the value is in memory.
    ///
    /// - Throws: what `body` throws; `CancellationError` when the calling task is cancelled while it waits; the loader's
    ///   own error, which every waiting reader gets, and the next access tries again; or ``PressureError`` with
    ///   `recursiveAccess`, or with `restoreFailed` or `damagedCopy` for a value that was set.
    @inlinable
    public func withValue<Result>(for key: Key, _ body: (Value) throws -> Result) async throws -> Result {
        if let reading = entry.readIfResident(key) {
            // Does not suspend: it ends on the thread where it began.
            defer { entry.end(reading) }
            return unsafe try body(reading.value.pointee)
        }
        let slot = try await entry.acquireMissing(key)
        defer { entry.release(slot) }
        return unsafe try body(slot.value.pointee)
    }

    /// The value for `key`, loaded or restored first if need be. Does not suspend when it is in memory.
    ///
    /// - Throws: as ``withValue(for:_:)``.
    @inlinable
    public func value(for key: Key) async throws -> Value { try await withValue(for: key) { $0 } }

    /// Keeps the value for `key` in memory for as long as the lease lives.
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

    /// Loads or restores the value for `key` if it is not in memory.
    ///
    /// - Throws: as ``withValue(for:_:)``.
    public func loadIfNeeded(for key: Key) async throws { try await withValue(for: key) { _ in } }

    // MARK: Writing

    /// Puts a value in place of the one for `key`, if any. Readers keep the old one for as long as they use it; who waits
    /// for a load gets this one.
    ///
    /// A value that was set is never dropped until it is invalidated: the loader does not make it. When it leaves too
    /// little memory, suspends until some is freed, unless the task is cancelled.
    public func set(_ value: consuming Value, for key: Key) async {
        let size = ValueSize(value)
        await entry.replaceSuspending(key, with: value, size)
        await entry.waitForRoom(after: size.footprint)
    }

    /// Changes the value for `key` in place, or a copy of it while readers hold it. Loads or restores it first. `body`
    /// does not suspend.
    ///
    /// `body` runs again if the value is replaced by someone else while a copy of it is being changed. Where the value grows, and
    /// that leaves too little memory, suspends afterwards as ``set(_:for:)`` does.
    ///
    /// - Throws: what `body` throws, or as ``withValue(for:_:)``.
    public func update<Result>(for key: Key, _ body: (inout Value) throws -> Result) async throws -> Result {
        try await entry.updateSuspending(key, body)
    }

    /// Discards the value for `key` and its copy; the next access loads anew, and so does who waits for a load.
    ///
    /// - Precondition: not called from inside ``update(for:_:)`` of the same key.
    public func invalidate(for key: Key) { entry.exchange(key, for: nil, nil) }

    // MARK: State

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

    /// Where it is in the tree of controllers, such as `"site/pages"`.
    public var path: String { entry.path }

    /// Whether ``PressureManager/saveState(to:version:)`` includes the values, as ``KeyedCache/isRestorable`` says.
    public var isRestorable: Bool {
        get { entry.traits.isRestorable.load(ordering: .relaxed) }
        set { entry.traits.isRestorable.store(newValue, ordering: .relaxed) }
    }

    /// Asks `handler` first when a load, spill or restore of this cache fails; `nil` asks nobody. As
    /// ``LazyCache/onFailure(_:)``.
    public func onFailure(_ handler: (@Sendable (ResourceFailure) -> Bool)?) {
        entry.traits.failureHandler.withLock { $0 = handler.map(Handler.init) }
    }
}
