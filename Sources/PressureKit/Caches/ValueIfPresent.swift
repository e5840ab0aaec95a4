// What there is, and nothing that a loader would have to make.

extension LazyCache {
    /// The value if there is one, restored first if need be; otherwise `nil`. Never calls the loader and waits for none: a
    /// value that is being loaded is not there yet. Blocks while a value is restored or changed.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy` when there is one and its copy cannot be read:
    ///   it stays where it is, and `value()` has the loader, if there is one, make it again. `recursiveAccess` from
    ///   inside ``update(_:)`` of the same cache.
    public func valueIfPresent() throws -> Value? {
        try entry.acquireKept().map { Lease(slot: $0, entry: entry).value }
    }

    /// The same without ever blocking the calling thread.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy`.
    public func valueIfPresent() async throws -> Value? {
        try await entry.acquireKept().map { Lease(slot: $0, entry: entry).value }
    }
}

extension AsyncLazyCache {
    /// The value if there is one, restored first if need be; otherwise `nil`. Never calls the loader and waits for none: a
    /// value that is being loaded is not there yet. Does not suspend when the value is in memory.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy` when there is one and its copy cannot be read:
    ///   it stays where it is, and ``value()`` has the loader make it again. `CancellationError` when the calling task is
    ///   cancelled while it waits.
    public func valueIfPresent() async throws -> Value? {
        try await entry.acquireKept().map { Lease(slot: $0, entry: entry).value }
    }
}

extension KeyedCache {
    /// The value for `key` if there is one, restored first if need be; otherwise `nil`. Never calls the loader and waits
    /// for none: a value that is being loaded is not there yet. Blocks while a value is restored or changed.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy` when there is one and its copy cannot be read:
    ///   it stays where it is, and `value(for:)` has the loader, if there is one, make it again. `recursiveAccess` from
    ///   inside ``update(for:_:)`` of the same key.
    public func valueIfPresent(for key: Key) throws -> Value? {
        try entry.acquireKept(key).map { Lease(slot: $0, entry: entry).value }
    }

    /// The same without ever blocking the calling thread.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy`.
    public func valueIfPresent(for key: Key) async throws -> Value? {
        try await entry.acquireKept(key).map { Lease(slot: $0, entry: entry).value }
    }
}

extension AsyncKeyedCache {
    /// The value for `key` if there is one, restored first if need be; otherwise `nil`. Never calls the loader and waits
    /// for none: a value that is being loaded is not there yet. Does not suspend when the value is in memory.
    ///
    /// - Throws: ``PressureError`` with `restoreFailed` or `damagedCopy` when there is one and its copy cannot be read:
    ///   it stays where it is, and ``value(for:)`` has the loader make it again. `CancellationError` when the calling
    ///   task is cancelled while it waits.
    public func valueIfPresent(for key: Key) async throws -> Value? {
        try await entry.acquireKept(key).map { Lease(slot: $0, entry: entry).value }
    }
}
