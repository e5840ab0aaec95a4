public import Synchronization

/// The cells of a ``KeyTable``, each half hash, half index: written by one thread at a time, read by any number without a
/// lock meanwhile, who may miss what is just being moved.
///
/// A hash finds its cell by a multiplication (Lemire, "Fast Random Integer Generation in an Interval", TOMACS 2019), since
/// the number of cells is no power of two.
@safe @usableFromInline
struct KeyCells: @unchecked Sendable {
    // Sendable and safe: `base` has the capacity and as many cells, all atomic, until `deallocate`, which no reader sees.
    @usableFromInline let base: UnsafeMutablePointer<Atomic<UInt64>>
    @usableFromInline let capacity: UInt32

    init(capacity: UInt32) {
        let count = Int(capacity) + 1
        unsafe base = .allocate(capacity: count)
        for index in 0..<count { unsafe (base + index).initialize(to: Atomic(0)) }
        unsafe base.pointee.store(UInt64(capacity), ordering: .relaxed)
        self.capacity = capacity
    }

    /// Cells that a reader has found published, and holds.
    @inlinable
    init(base: UnsafeMutablePointer<Atomic<UInt64>>) {
        unsafe self.base = base
        capacity = unsafe UInt32(truncatingIfNeeded: base.pointee.load(ordering: .relaxed))
    }

    func deallocate() { unsafe base.deallocate() }

    /// Where they are, as readers publish it.
    var address: UInt { UInt(bitPattern: unsafe base) }

    /// The bytes of the cells.
    var byteCount: Int { (Int(capacity) + 1) * MemoryLayout<UInt64>.stride }

    /// A cell; 0 is free.
    @inlinable
    subscript(position: UInt32) -> UInt64 {
        get { unsafe (base + 1 + Int(position)).pointee.load(ordering: .acquiring) }
        nonmutating set { unsafe (base + 1 + Int(position)).pointee.store(newValue, ordering: .releasing) }
    }

    /// The cell a hash would have if all were free.
    @inlinable
    func home(_ hash: UInt32) -> UInt32 {
        // Mixed first: the high bits are the same for all keys of a shard.
        UInt32(truncatingIfNeeded: (UInt64(hash &* 0x9E37_79B1) &* UInt64(capacity)) >> 32)
    }

    @inlinable
    func next(_ position: UInt32) -> UInt32 { position + 1 == capacity ? 0 : position + 1 }

    /// The index stored under `hash` for which `matches` holds.
    @inlinable
    func find(_ hash: UInt32, where matches: (UInt32) -> Bool) -> UInt32? {
        var position = home(hash)
        // Bounded, since a reader without the lock may be led round by what moves.
        for _ in 0..<capacity {
            let cell = self[position]
            if cell == 0 { return nil }
            let index = UInt32(truncatingIfNeeded: cell) &- 1
            if UInt32(truncatingIfNeeded: cell >> 32) == hash, matches(index) { return index }
            position = next(position)
        }
        return nil
    }
}
