// Changing a value that need not be there, as Dictionary's `subscript(key:default:)` does.

extension LazyCache {
    /// Changes the value, or `default` when there is none, which becomes the value with what `body` makes of it.
    ///
    /// ```swift
    /// try visits.update(default: []) { $0.append(now) }
    /// ```
    ///
    /// Restores a spilled value first, as ``update(_:)`` does. Never calls the loader and waits for none: who waits for a
    /// load gets this value. `default` and `body` run again if somebody else is faster in giving the cache a value.
    ///
    /// - Throws: what `default` or `body` throws, and then a cache without a value stays without; or ``PressureError``
    ///   with `restoreFailed` or `damagedCopy`, or `recursiveAccess` when `body` reads or changes the same cache.
    public func update<Result>(
        default makeValue: @autoclosure () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) throws -> Result {
        try entry.update(default: makeValue, body)
    }
}

extension AsyncLazyCache {
    /// Changes the value, or `default` when there is none, as ``LazyCache/update(default:_:)`` does. Suspends where that
    /// one blocks; `default` and `body` do not suspend.
    ///
    /// - Throws: what `default` or `body` throws, and then a cache without a value stays without; `CancellationError`
    ///   when the calling task is cancelled while it waits for a restore; or ``PressureError`` with `restoreFailed` or
    ///   `damagedCopy`.
    public func update<Result>(
        default makeValue: @autoclosure () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await entry.updateSuspending(default: makeValue, body)
    }
}

extension KeyedCache {
    /// Changes the value for `key`, or `default` when it has none, which becomes its value with what `body` makes of it.
    ///
    /// ```swift
    /// try index.update(for: word, default: []) { $0.append(page) }
    /// ```
    ///
    /// Restores a spilled value first, as ``update(for:_:)`` does. Never calls the loader and waits for none: who waits for
    /// a load gets this value, which is then one that was set. `default` and `body` run again if somebody else is faster
    /// in giving the key a value.
    ///
    /// - Throws: what `default` or `body` throws, and then a key without a value stays without; or ``PressureError`` with
    ///   `restoreFailed` or `damagedCopy`, or `recursiveAccess` when `body` reads or changes the same key.
    public func update<Result>(
        for key: Key,
        default makeValue: @autoclosure () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) throws -> Result {
        try entry.update(key, default: makeValue, body)
    }
}

extension AsyncKeyedCache {
    /// Changes the value for `key`, or `default` when it has none, as ``KeyedCache/update(for:default:_:)`` does. Suspends
    /// where that one blocks; `default` and `body` do not suspend.
    ///
    /// - Throws: what `default` or `body` throws, and then a key without a value stays without; `CancellationError` when
    ///   the calling task is cancelled while it waits for a restore; or ``PressureError`` with `restoreFailed` or
    ///   `damagedCopy`.
    public func update<Result>(
        for key: Key,
        default makeValue: @autoclosure () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        try await entry.updateSuspending(key, default: makeValue, body)
    }
}
