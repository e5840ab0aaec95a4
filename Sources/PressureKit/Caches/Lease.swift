/// A value that stays in memory for as long as this lives.
///
/// ```swift
/// let lease = try await tiles.lease()
/// try await upload(lease.value)      // may suspend and change threads
/// // released at the end of its scope
/// ```
///
/// A lease that is kept keeps the memory: a report names the cache as skipped because it was pinned.
public struct Lease<Value: Spillable>: ~Copyable, Sendable {
    private let slot: Slot<Value>
    private let entry: ValueEntry<Value>

    /// Takes over a pin.
    init(slot: Slot<Value>, entry: ValueEntry<Value>) {
        self.slot = slot
        self.entry = entry
    }

    deinit { entry.release(slot) }

    /// The value.
    public var value: Value {
        // Pinned until deinit.
        unsafe slot.value.pointee
    }
}

extension LazyCache {
    /// Keeps the value in memory for as long as the lease lives. Blocks as ``withValue(_:)`` does: for those who cannot
    /// suspend.
    ///
    /// - Throws: as ``withValue(_:)``.
    package func heldLease() throws -> Lease<Value> { Lease(slot: try entry.acquire(), entry: entry) }
}

extension KeyedCache {
    /// Keeps the value for `key` in memory for as long as the lease lives, as ``LazyCache/heldLease()`` does.
    ///
    /// - Throws: as ``withValue(for:_:)``.
    package func heldLease(for key: Key) throws -> Lease<Value> {
        Lease(slot: try entry.acquire(key), entry: entry)
    }
}
