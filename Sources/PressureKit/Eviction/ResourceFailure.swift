import PressureSystem
import SpillStore

/// A load, spill or restore that failed, on its way up: cache, controller, its parents, the manager, until one of them
/// has handled it.
public struct ResourceFailure: Sendable {
    /// What failed.
    public enum Kind: String, Sendable, CaseIterable {
        /// A loader threw. Its readers got the error, and the next one tries again. A `CancellationError` is no failure,
        /// and neither is reading a cache that has no loader and no value.
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

extension ResourceFailure {
    /// A value of `entry` that could not be written, to a server if one is named.
    init(_ entry: CacheEntry, _ failure: SpillFailure, server: String?) {
        self.init(
            resource: PressureResource(entry: entry),
            kind: .spill,
            error: failure.pressureError(path: entry.path, server: server)
        )
    }
}

extension CacheEntry {
    /// Sends a failure up until somebody handles it: the cache's own handler first, then its host. With nothing locked; on
    /// the calling thread.
    ///
    /// - Returns: whether somebody did.
    @discardableResult
    func climb(_ kind: ResourceFailure.Kind, _ error: any Error) -> Bool {
        let failure = ResourceFailure(resource: PressureResource(entry: self), kind: kind, error: error)
        if let handler = traits.failureHandler.withLock({ $0 }), handler.call(failure) { return true }
        return host?.handle(failure) ?? false
    }
}

extension PressureError {
    /// What `error` means to those who restore a value without reading it: itself, or an error about it.
    static func restoreFailed(_ error: any Error, path: String) -> PressureError {
        error as? PressureError ?? PressureError(code: .restoreFailed, message: "\(error)", path: path, cause: error)
    }
}
