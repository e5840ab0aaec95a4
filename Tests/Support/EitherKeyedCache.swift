import Glibc
package import PressureKit

/// A cache of many values whose loader is of either kind.
package struct EitherKeyedCache: Sendable {
    package let value: @Sendable (Int) async throws -> [UInt8]
    package let valueIfPresent: @Sendable (Int) async throws -> [UInt8]?
    package let set: @Sendable ([UInt8], Int) async -> Void
    /// Changes the value, or another one when there is none.
    package let update:
        @Sendable (
            Int,
            _ default: @escaping @Sendable () throws -> [UInt8],
            _ body: @escaping @Sendable (inout [UInt8]) throws -> Void
        ) async throws -> Void
    package let invalidate: @Sendable (Int) -> Void
    package let removeAll: @Sendable () -> Void
    package let keys: @Sendable () -> [Int]
    package let contains: @Sendable (Int) -> Bool
    package let residency: @Sendable (Int) -> Residency
    package let count: @Sendable () -> Int
    package let residentByteCount: @Sendable () -> ByteCount
    package let statistics: @Sendable () -> KeyedCache<Int, [UInt8]>.Statistics
    /// Calls `body` with the value while a lease holds it.
    package let hold: @Sendable (Int, _ body: @Sendable ([UInt8]) async throws -> Void) async throws -> Void
    package let onFailure: @Sendable (@escaping @Sendable (ResourceFailure) -> Bool) -> Void
}

extension PressureController {
    /// A keyed cache with a loader of a kind. One that suspends does so once.
    ///
    /// - Parameter gate: what a loader waits at, after it has begun.
    package func keyedCache(
        _ name: String,
        _ kind: LoaderKind,
        options: CacheOptions = CacheOptions(),
        gate: Gate? = nil,
        loader: @escaping @Sendable (Int) throws -> [UInt8]
    ) throws -> EitherKeyedCache {
        switch kind {
        case .blocking:
            let cache = try keyedCache(name, options: options) { (key: Int) throws -> [UInt8] in
                gate?.passBlocking()
                return try loader(key)
            }
            return EitherKeyedCache(
                value: { try await cache.value(for: $0) },
                valueIfPresent: { key in try await Self.blockers.run { try cache.valueIfPresent(for: key) } },
                set: { cache.set($0, for: $1) },
                update: { key, makeValue, body in
                    try await Self.blockers.run { try cache.update(for: key, default: try makeValue(), body) }
                },
                invalidate: { cache.invalidate(for: $0) },
                removeAll: { cache.removeAll() },
                keys: { cache.keys },
                contains: { cache.contains($0) },
                residency: { cache.residency(for: $0) },
                count: { cache.count },
                residentByteCount: { cache.residentByteCount },
                statistics: { cache.statistics },
                hold: { key, body in
                    let lease = try await cache.lease(for: key)
                    try await body(lease.value)
                },
                onFailure: { cache.onFailure($0) }
            )
        case .suspending:
            let cache = try keyedCache(name, options: options) { (key: Int) async throws -> [UInt8] in
                await Task.yield()
                await gate?.pass()
                return try loader(key)
            }
            return EitherKeyedCache(
                value: { try await cache.value(for: $0) },
                valueIfPresent: { try await cache.valueIfPresent(for: $0) },
                set: { await cache.set($0, for: $1) },
                update: { try await cache.update(for: $0, default: try $1(), $2) },
                invalidate: { cache.invalidate(for: $0) },
                removeAll: { cache.removeAll() },
                keys: { cache.keys },
                contains: { cache.contains($0) },
                residency: { cache.residency(for: $0) },
                count: { cache.count },
                residentByteCount: { cache.residentByteCount },
                statistics: { cache.statistics },
                hold: { key, body in
                    let lease = try await cache.lease(for: key)
                    try await body(lease.value)
                },
                onFailure: { cache.onFailure($0) }
            )
        }
    }

    /// Threads for methods that block.
    private static let blockers = BlockingPool(threads: 8)
}

extension Gate {
    /// As ``pass()``, for those who cannot suspend.
    package func passBlocking() {
        arrive()
        while !isOpen { sched_yield() }
    }
}
