public import PressureSystem
import Synchronization

/// One value whose loader suspends, as one that asks a server does; else as ``LazyCache``.
///
/// ```swift
/// let profile = try account.cache("profile") { try await client.profile(of: user) }
/// let name = try await profile.withValue { $0.name }
/// ```
///
/// What may have to wait for the loader is `async`, and only that: there is no way to block a thread on it. A value in
/// memory is read without suspending. While a loader waits it occupies no thread at all; restores and what is asked of
/// the disk run on threads of the library's own.
///
/// **One load, however many ask.** A reader whose task is cancelled leaves at once, with a `CancellationError`, and the
/// load goes on for the others. When nobody waits for it any more its task is cancelled, and the next access loads anew.
/// The load is as urgent as the most urgent task that waits for it. A loader that waits for its
/// own value, also in a task that it starts or through other loaders, gets `recursiveAccess`.
///
/// All methods may be called from any task, and from any hook or loader.
public final class AsyncLazyCache<Value: Spillable>: Sendable {
    @usableFromInline let entry: LazyEntry<Value>

    init(entry: LazyEntry<Value>) { self.entry = entry }

    // MARK: Reading

    /// Passes the value to `body`, loading or restoring it first if need be, and keeps it in memory until `body`
    /// returns.
    ///
    /// Does not suspend when the value is in memory. `body` does not suspend: to hold a value across an `await`, take a
    /// ``lease()``.
    ///
    /// - Throws: what `body` throws; `CancellationError` when the calling task is cancelled while it waits; the loader's
    ///   own error, which every waiting reader gets, and the next access tries again; or ``PressureError`` with
    ///   `recursiveAccess`, or with `restoreFailed` or `damagedCopy` for a value that was set.
    @inlinable
    public func withValue<Result>(_ body: (Value) throws -> Result) async throws -> Result {
        if let reading = entry.readIfResident() {
            // Does not suspend: it ends on the thread where it began.
            defer { entry.end(reading) }
            return unsafe try body(reading.value.pointee)
        }
        let slot = try await entry.acquire()
        defer { entry.release(slot) }
        return unsafe try body(slot.value.pointee)
    }

    /// The value itself, loaded or restored first if need be. Does not suspend when it is in memory.
    ///
    /// A value that has been copied out stays in memory when the cache evicts its own: prefer ``withValue(_:)`` for
    /// large ones.
    ///
    /// - Throws: as ``withValue(_:)``.
    @inlinable
    public func value() async throws -> Value { try await withValue { $0 } }

    /// Keeps the value in memory for as long as the lease lives, across suspension points and threads.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func lease() async throws -> Lease<Value> { Lease(slot: try await entry.acquire(), entry: entry) }

    /// Passes the value to `body` if it is in memory; otherwise returns `nil`. Never loads, never waits.
    ///
    /// - Throws: what `body` throws.
    @inlinable
    public func ifLoaded<Result, Failure: Error>(
        _ body: (Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let reading = entry.readIfResident() else { return nil }
        defer { entry.end(reading) }
        return unsafe try body(reading.value.pointee)
    }

    /// Loads or restores the value if it is not in memory.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func loadIfNeeded() async throws { try await withValue { _ in } }

    // MARK: Writing

    /// Changes the value in place, loading or restoring it first, as ``LazyCache/update(_:)`` does. `body` does not
    /// suspend. Where the value grows, and that leaves too little memory, suspends afterwards as ``set(_:)`` does.
    ///
    /// - Throws: what `body` throws; what it changed before that stays changed if nobody was using the value. Or as
    ///   ``withValue(_:)``.
    public func update<Result>(_ body: (inout Value) throws -> Result) async throws -> Result {
        try await entry.updateSuspending(body)
    }

    /// Puts a value in place of the one there is, if any. Readers keep the old one for as long as they use it; who waits
    /// for a load gets this one.
    ///
    /// When the value leaves too little memory, suspends until some is freed, unless the task is cancelled: for a second,
    /// and longer while memory comes free slowly and the overdraft is used up.
    ///
    /// - Throws: ``PressureError`` with `recursiveAccess`, never outside of ``update(_:)`` of the same cache.
    public func set(_ value: consuming Value) async throws(PressureError) {
        let size = ValueSize(value)
        try await entry.replaceSuspending(with: value, size)
        await entry.waitForRoom(after: size.footprint)
    }

    /// Discards the value and its copy; the next access loads anew, and so does who waits for a load. Waits for nothing
    /// but the body of an ``update(_:)`` that is running.
    ///
    /// - Throws: ``PressureError`` with `recursiveAccess` when called from inside ``update(_:)`` of the same cache.
    public func invalidate() throws(PressureError) { try entry.replace(with: nil, nil) }

    // MARK: State

    /// Where the value is at this moment. It may have moved by the time you look at the answer.
    public var residency: Residency { entry.residency }

    /// Whether the value is in memory, so that ``withValue(_:)`` would not suspend.
    public var isLoaded: Bool { entry.state.isResident }

    /// The bytes that evicting the value would give back, or gave back; zero before it is first loaded.
    public var byteCount: ByteCount { ByteCount(bytes: entry.footprint) }

    /// The name it was registered with.
    public var name: String { entry.name }

    /// Where it is in the tree of controllers, such as `"account/profile"`.
    public var path: String { entry.path }

    /// Whether ``PressureManager/saveState(to:version:)`` includes the value. `true` unless set.
    public var isRestorable: Bool {
        get { entry.traits.isRestorable.load(ordering: .relaxed) }
        set { entry.traits.isRestorable.store(newValue, ordering: .relaxed) }
    }

    /// Asks `handler` first when a load, spill or restore of this cache fails; `nil` asks nobody. As
    /// ``LazyCache/onFailure(_:)``.
    public func onFailure(_ handler: (@Sendable (ResourceFailure) -> Bool)?) {
        entry.traits.failureHandler.withLock { $0 = handler.map(Handler.init) }
    }

    // MARK: Variants

    /// Which value the cache has; `full` also when it has none. See ``withVariant(_:)`` for a reader's own.
    public var variant: CacheVariant { entry.variant }

    /// Passes the value to `body`, as ``withValue(_:)`` does, and which one it is.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func withVariant<Result>(_ body: (Value, CacheVariant) throws -> Result) async throws -> Result {
        let slot = if let slot = entry.acquireIfResident() { slot } else { try await entry.acquire() }
        defer { entry.release(slot) }
        // Pinned.
        return unsafe try body(slot.value.pointee, slot.header.pointee.loadedVariant)
    }
}
