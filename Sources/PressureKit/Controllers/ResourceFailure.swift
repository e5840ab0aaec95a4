/// A load, spill or restore that failed, on its way up: cache, controller, its parents, the manager, until one of them
/// has handled it.
public struct ResourceFailure: Sendable {
    /// What failed.
    public enum Kind: String, Sendable, CaseIterable {
        /// A loader threw. Its readers got the error, and the next one tries again.
        case load
        /// A copy could not be written. The value is in memory, unchanged.
        case spill
        /// A copy could not be read. The value was loaded again, or its readers got the error.
        case restore
    }

    /// Whose value it was.
    public let resource: PressureResource
    /// What failed.
    public let kind: Kind
    /// Why: the loader's own error, or a ``PressureError``.
    public let error: any Error

    package init(resource: PressureResource, kind: Kind, error: any Error) {
        self.resource = resource
        self.kind = kind
        self.error = error
    }
}

extension CacheEntry {
    /// Sends a failure up until somebody handles it. With nothing locked; on the calling thread.
    ///
    /// ```
    /// cache (onFailure) → controller → its parent or presenter → … → root → manager's delegate
    /// ```
    ///
    /// - Returns: whether somebody did.
    @discardableResult
    func climb(_ kind: ResourceFailure.Kind, _ error: any Error) -> Bool {
        let failure = ResourceFailure(resource: PressureResource(entry: self), kind: kind, error: error)
        if let handler = traits.failureHandler.withLock({ $0 }), handler(failure) { return true }
        var next = controller
        while let controller = next {
            if controller.delegate?.handle(failure) ?? false { return true }
            if let context = controller.state.withLock({ $0.context }) {
                return context.delegate?.handle(failure) ?? false
            }
            next = controller.superior
        }
        return false
    }
}

extension LazyCache {
    /// Asks `handler` first when a load, spill or restore of this cache fails; `nil` asks nobody.
    ///
    /// - Parameter handler: whether it has handled the failure, so that no controller hears of it. Called with nothing
    ///   locked, on the thread on which it failed; for a spill, on the manager's listener thread.
    public func onFailure(_ handler: (@Sendable (ResourceFailure) -> Bool)?) {
        entry.traits.failureHandler.withLock { $0 = handler }
    }
}

extension KeyedCache {
    /// Asks `handler` first when a load, spill or restore of this cache fails; `nil` asks nobody. As
    /// ``LazyCache/onFailure(_:)``.
    public func onFailure(_ handler: (@Sendable (ResourceFailure) -> Bool)?) {
        entry.traits.failureHandler.withLock { $0 = handler }
    }
}

extension PressureResource {
    /// Sends a failure of this cache up.
    func climb(_ kind: ResourceFailure.Kind, _ error: any Error) { entry.climb(kind, error) }
}
