import PressureSystem

/// One value that is loaded when it is first used, leaves memory under pressure, and comes back on the next access.
///
/// Get one from a controller:
///
/// ```swift
/// let thumbnails = try gallery.cache("thumbnails") { try renderThumbnails() }
/// try thumbnails.withValue { bytes in draw(bytes) }
/// ```
///
/// **With a loader**, a value that leaves memory is either written to the spill file or dropped and loaded again,
/// whichever is measured to be cheaper. **Without a loader** it is never dropped: it is in memory, or in a copy that was
/// read back and compared before the memory was released. The same holds for what was ``set(_:)`` or ``update(_:)``d in
/// a cache with a loader, until it is invalidated: the loader does not make that value.
///
/// **While a value is in use** (inside ``withValue(_:)``, or by a ``Lease``) it is neither moved nor changed. Several
/// readers may use it at once. A writer does not wait for them: they keep the value they have, and readers that come
/// after the write see the new one.
///
/// With a loader that suspends, `cache` makes an ``AsyncLazyCache``.
///
/// All methods may be called on any thread, and from any hook or loader. The ones that are not `async` block the calling
/// thread while a value is loaded or restored; when it is in memory they take a few nanoseconds.
public final class LazyCache<Value: Spillable>: Sendable {
    @usableFromInline let entry: LazyEntry<Value>

    init(entry: LazyEntry<Value>) { self.entry = entry }

    // MARK: Reading

    /// Passes the value to `body`, loading or restoring it first if need be, and keeps it in memory until `body`
    /// returns.
    ///
    /// Blocks while the value is made; any number of readers that arrive meanwhile cause one load or one restore. What
    /// `body` is given is valid until it returns; copying it out is legal, and keeps its memory alive.
    ///
    /// - Throws: what `body` throws; the loader's own error, which every waiting reader gets, and the next access tries
    ///   again; or ``PressureError`` with `noValue`, `restoreFailed`, `damagedCopy` or `recursiveAccess`.
    @inlinable
    public func withValue<Result>(_ body: (Value) throws -> Result) throws -> Result {
        let reading = try entry.read()
        defer { entry.end(reading) }
        return unsafe try body(reading.value.pointee)
    }

    /// The value itself, loaded or restored first if need be. Blocks as ``withValue(_:)`` does.
    ///
    /// A value that has been copied out stays in memory when the cache evicts its own: prefer ``withValue(_:)`` for
    /// large ones.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func value() throws -> Value { try withValue { $0 } }

    /// The value itself, loaded or restored first if need be, without ever blocking the calling thread: loaders and
    /// restores run on threads of the library's own.
    ///
    /// Cancelling the task does not cancel the load, which other readers may be waiting for.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func value() async throws -> Value {
        if let value = ifLoaded({ $0 }) { return value }
        return try await lease().value
    }

    /// Keeps the value in memory for as long as the lease lives, across suspension points and threads.
    ///
    /// Suspends while the value is made; never blocks the calling thread.
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

    /// Loads or restores the value if it is not in memory. Blocks as ``withValue(_:)`` does.
    ///
    /// - Throws: as ``withValue(_:)``.
    public func loadIfNeeded() throws { try withValue { _ in } }

    // MARK: Writing

    /// Changes the value in place, loading or restoring it first. Its copy in the spill file, if any, becomes invalid.
    ///
    /// Waits for another writer, not for readers: while the value is in use, `body` changes a copy of it, which takes
    /// its place afterwards. Other readers wait while `body` changes a value in place. Where the value grows, and that leaves too
    /// little memory, waits afterwards as ``set(_:)`` does.
    ///
    /// - Throws: what `body` throws; what it changed before that stays changed if nobody was using the value. Or as
    ///   ``withValue(_:)``; `recursiveAccess` when `body` reads or changes the same cache.
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        try entry.update(body)
    }

    /// Puts a value in place of the one there is, if any. Readers keep the old one for as long as they use it.
    ///
    /// Does not wait for readers, loads or restores; waits for another writer. When the value leaves too little memory,
    /// the calling thread waits until some is freed: for a second, and longer while memory comes free slowly and the
    /// overdraft is used up. A task that is not to occupy its thread meanwhile uses an ``AsyncLazyCache``.
    ///
    /// - Throws: ``PressureError`` with `recursiveAccess` when called from inside ``update(_:)`` of the same cache.
    public func set(_ value: consuming Value) throws(PressureError) {
        let size = ValueSize(value)
        try entry.replace(with: value, size)
        entry.waitForRoom(after: size.footprint)
    }

    /// Discards the value and its copy; the next access loads anew.
    ///
    /// Without a loader this is the one way to lose the value, and the next access throws `noValue`. Waits as
    /// ``set(_:)`` does.
    ///
    /// - Throws: ``PressureError`` with `recursiveAccess` when called from inside ``update(_:)`` of the same cache.
    public func invalidate() throws(PressureError) { try entry.replace(with: nil, nil) }

    // MARK: State

    /// Where the value is at this moment. It may have moved by the time you look at the answer.
    public var residency: Residency { entry.residency }

    /// Whether the value is in memory, so that ``withValue(_:)`` would not wait.
    public var isLoaded: Bool { entry.state.isResident }

    /// The bytes that evicting the value would give back, or gave back; zero before it is first loaded.
    public var byteCount: ByteCount { ByteCount(bytes: entry.footprint) }

    /// The name it was registered with.
    public var name: String { entry.name }

    /// Where it is in the tree of controllers, such as `"gallery/thumbnails"`.
    public var path: String { entry.path }
}
