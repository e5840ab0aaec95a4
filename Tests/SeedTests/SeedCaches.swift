import PressureKitTestSupport

@testable import PressureKit

/// A cache of a run, whatever its kind: how its values are used.
struct SeedCache {
    struct Verbs {
        var read: (_ key: Int, (SeedBlock) throws -> Void) throws -> Void
        var awaited: (_ key: Int) throws -> SeedBlock
        var peek: (_ key: Int, (SeedBlock) -> Void) -> Bool
        var present: (_ key: Int) throws -> SeedBlock?
        var set: (_ key: Int, SeedBlock) throws -> Void
        /// Both give what there was before.
        var update: (_ key: Int, SeedBlock) throws -> SeedBlock
        var orMake: (_ key: Int, _ made: SeedBlock, SeedBlock) throws -> SeedBlock
        var invalidate: (_ key: Int) throws -> Void
        var lease: (_ key: Int) throws -> SeedHold
        var residency: (_ key: Int) -> Residency
        /// Passes every value there is, and leaves it where it is; or why a copy cannot be read.
        var audit: ((Result<SeedBlock, any Error>) -> Void) -> Void
    }

    /// How it was declared, which is how it is made again after a kill.
    let step: SeedStep
    let controller: Int
    let hasLoader: Bool
    /// Its loader suspends.
    let suspends: Bool
    let keys: Range<Int>
    let allowed: Disposition
    let isWritten: Bool
    /// The number of the first of its values.
    let firstEntry: Int
    let verbs: Verbs
    let entry: CacheEntry
}

/// A lease that is kept, and what was leased.
final class SeedHold {
    let block: SeedBlock
    private var release: (() -> Void)?

    init(_ block: SeedBlock, release: @escaping () -> Void) { (self.block, self.release) = (block, release) }

    /// Lets it go although it is held.
    func letGo() { release = nil }

    fileprivate static func holding<Value: SeedValue>(_ lease: consuming Lease<Value>) -> SeedHold {
        holding(Box(lease))
    }

    fileprivate static func holding<Value: SeedValue>(_ box: Box<Value>) -> SeedHold {
        SeedHold(box.lease.value.block) { withExtendedLifetime(box) {} }
    }
}

/// Leases cannot be copied, and closures can.
private final class Box<Value: Spillable>: Sendable {
    let lease: Lease<Value>
    init(_ lease: consuming Lease<Value>) { self.lease = lease }
}

/// Blocks this thread until `body` has ended, and nothing of it is left that could keep a value: steps come one after the
/// other.
func wait<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    let result = Shared<Swift.Result<Result, any Error>?>(nil)
    let isOver = ConditionLock(false)
    Task {
        // In a frame of its own, which is gone when the thread goes on.
        await carryOut(body, result)
        isOver.withLock { $0 = true }
    }
    isOver.wait { $0 ? () : nil }
    let made = result.value
    result.set(nil)
    guard let made else { preconditionFailure("it has ended and left nothing") }
    return try made.get()
}

private func carryOut<Result: Sendable>(
    _ body: @Sendable () async throws -> Result,
    _ result: Shared<Swift.Result<Result, any Error>?>
) async {
    do { result.set(.success(try await body())) } catch { result.set(.failure(error)) }
}

extension SeedCache.Verbs {
    static func one<Value: SeedValue>(_ cache: LazyCache<Value>) -> Self {
        Self(
            read: { _, body in try cache.withValue { try body($0.block) } },
            awaited: { _ in try wait { try await cache.value().block } },
            peek: { _, body in cache.ifLoaded { body($0.block) } != nil },
            present: { _ in try cache.valueIfPresent()?.block },
            set: { _, block in try cache.set(Value(block)) },
            update: { _, block in try cache.update { $0.exchange(for: block) } },
            orMake: { _, made, block in try cache.update(default: Value(made)) { $0.exchange(for: block) } },
            invalidate: { _ in try cache.invalidate() },
            lease: { _ in .holding(try cache.heldLease()) },
            residency: { _ in cache.residency },
            audit: { look(at: cache.entry, $0) }
        )
    }

    static func many<Value: SeedValue>(_ cache: KeyedCache<SeedKey, Value>) -> Self {
        Self(
            read: { key, body in try cache.withValue(for: SeedKey(key)) { try body($0.block) } },
            awaited: { key in try wait { try await cache.value(for: SeedKey(key)).block } },
            peek: { key, body in cache.ifLoaded(for: SeedKey(key)) { body($0.block) } != nil },
            present: { try cache.valueIfPresent(for: SeedKey($0))?.block },
            set: { key, block in cache.set(Value(block), for: SeedKey(key)) },
            update: { key, block in try cache.update(for: SeedKey(key)) { $0.exchange(for: block) } },
            orMake: { key, made, block in
                try cache.update(for: SeedKey(key), default: Value(made)) { $0.exchange(for: block) }
            },
            invalidate: { cache.invalidate(for: SeedKey($0)) },
            lease: { .holding(try cache.heldLease(for: SeedKey($0))) },
            residency: { cache.residency(for: SeedKey($0)) },
            audit: { look(at: cache.entry, $0) }
        )
    }

    static func many<Value: SeedValue>(_ cache: AsyncKeyedCache<SeedKey, Value>) -> Self {
        Self(
            read: { key, body in
                let block = try wait { try await cache.withValue(for: SeedKey(key)) { $0.block } }
                try body(block)
            },
            awaited: { key in try wait { try await cache.value(for: SeedKey(key)).block } },
            peek: { key, body in cache.ifLoaded(for: SeedKey(key)) { body($0.block) } != nil },
            present: { key in try wait { try await cache.valueIfPresent(for: SeedKey(key))?.block } },
            set: { key, block in try wait { await cache.set(Value(block), for: SeedKey(key)) } },
            update: { key, block in
                try wait { try await cache.update(for: SeedKey(key)) { $0.exchange(for: block) } }
            },
            orMake: { key, made, block in
                try wait {
                    try await cache.update(for: SeedKey(key), default: Value(made)) { $0.exchange(for: block) }
                }
            },
            invalidate: { cache.invalidate(for: SeedKey($0)) },
            lease: { key in .holding(try wait { Box(try await cache.lease(for: SeedKey(key))) }) },
            residency: { cache.residency(for: SeedKey($0)) },
            audit: { look(at: cache.entry, $0) }
        )
    }
}

/// Looks at all slots of a cache behind its back. Nobody else is at work: what is in memory stays, what is in a copy is
/// read from there and let go.
private func look<Value: SeedValue>(
    at entry: ValueEntry<Value>,
    _ body: (Result<SeedBlock, any Error>) -> Void
) {
    // Copies are read outside of the cache's locks.
    var slots: [Slot<Value>] = []
    // They live as long as the entry, which is held here.
    unsafe entry.forEachSlot { unsafe slots.append(Slot(base: $0)) }
    for slot in slots {
        switch unsafe slot.header.pointee.state.residency {
        case .resident: body(.success(unsafe slot.value.pointee.block))
        case .spilled, .compressed:
            let count = unsafe entry.plainByteCount(slot.base)
            body(Result { unsafe try slot.copy.pointee.restore(Value.self, plainByteCount: count).block })
        case .unloaded, .loading, .restoring: break
        }
    }
}

extension SeedValue {
    /// Becomes another one: what it was.
    fileprivate mutating func exchange(for block: SeedBlock) -> SeedBlock {
        defer { self = Self(block) }
        return self.block
    }
}
