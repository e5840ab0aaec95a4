package import PressureKit

/// The two kinds of loader, for tests of what does not depend on them.
package enum LoaderKind: CaseIterable, Sendable {
    case blocking, suspending
}

/// A cache of one value whose loader is of either kind.
package struct EitherCache: Sendable {
    /// The value, loaded or restored.
    package let value: @Sendable () async throws -> [UInt8]
    /// Where it is.
    package let residency: @Sendable () -> Residency
    /// Discards it.
    package let invalidate: @Sendable () throws -> Void
}

extension PressureController {
    /// A cache with a loader of a kind. One that suspends does so once.
    package func cache(
        _ name: String,
        _ kind: LoaderKind,
        loader: @escaping @Sendable () throws -> [UInt8]
    ) throws -> EitherCache {
        switch kind {
        case .blocking:
            let cache = try cache(name, loader: loader)
            return EitherCache(
                value: { try await cache.value() },
                residency: { cache.residency },
                invalidate: { try cache.invalidate() }
            )
        case .suspending:
            let cache = try cache(name) {
                await Task.yield()
                return try loader()
            }
            return EitherCache(
                value: { try await cache.value() },
                residency: { cache.residency },
                invalidate: { try cache.invalidate() }
            )
        }
    }
}
