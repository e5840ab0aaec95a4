import PressureSystem

extension LazyCache {
    /// Asks `handler` first when a load, spill or restore of this cache fails; `nil` asks nobody.
    ///
    /// - Parameter handler: whether it has handled the failure, so that no controller hears of it. Called with nothing
    ///   locked, on the thread on which it failed; for a spill that frees memory for others, on the manager's listener
    ///   thread. After a failed load readers that waited for it may have their error before.
    public func onFailure(_ handler: (@Sendable (ResourceFailure) -> Bool)?) {
        entry.traits.failureHandler.withLock { $0 = handler.map(Handler.init) }
    }
}

extension KeyedCache {
    /// Asks `handler` first when a load, spill or restore of this cache fails; `nil` asks nobody. As
    /// ``LazyCache/onFailure(_:)``.
    public func onFailure(_ handler: (@Sendable (ResourceFailure) -> Bool)?) {
        entry.traits.failureHandler.withLock { $0 = handler.map(Handler.init) }
    }
}

extension PressureResource {
    /// Sends a failure of this cache up.
    func climb(_ kind: ResourceFailure.Kind, _ error: any Error) { entry.climb(kind, error) }
}
