/// Neighbours in the order of arrival, by index; `UInt32.max` for none. A free slot uses `newer` for the free list.
@usableFromInline
struct SlotLinks {
    var older: UInt32
    var newer: UInt32
}

/// A slot of a keyed cache: a ``Slot`` with its key, its hash, and its neighbours in the order of arrival behind it.
@safe @usableFromInline
struct KeyedSlot<Key, Value>: @unchecked Sendable {
    // Sendable and safe: as Slot; the key and the links are guarded by the shard's lock.
    @usableFromInline let slot: Slot<Value>

    @inlinable
    init(slot: Slot<Value>) { self.slot = slot }

    @usableFromInline typealias Links = SlotLinks

    @inlinable static var keyOffset: Int {
        let alignment = MemoryLayout<Key>.alignment
        return (Slot<Value>.valueOffset + MemoryLayout<Value>.size + alignment - 1) & ~(alignment - 1)
    }

    @inlinable static var linksOffset: Int {
        (keyOffset + MemoryLayout<Key>.size + MemoryLayout<Links>.alignment - 1) & ~(MemoryLayout<Links>.alignment - 1)
    }

    /// The bytes from one slot to the next.
    @inlinable static var stride: Int {
        let alignment = alignment
        return (linksOffset + MemoryLayout<Links>.size + alignment - 1) & ~(alignment - 1)
    }

    /// Of a block of slots.
    @inlinable static var alignment: Int {
        max(MemoryLayout<SlotHeader>.alignment, MemoryLayout<Value>.alignment, MemoryLayout<Key>.alignment)
    }

    /// The place of the key; initialised while the slot is in the table.
    @inlinable var key: UnsafeMutablePointer<Key> {
        unsafe (slot.base + Self.keyOffset).assumingMemoryBound(to: Key.self)
    }

    /// Bits of the header's `home` that are the slot's index, below those of its shard: 134 million slots to a shard.
    static var indexBits: UInt32 { 27 }

    /// The slot's own index.
    var index: UInt32 { unsafe slot.header.pointee.home & (1 << Self.indexBits - 1) }

    /// The number of the slot's shard.
    var shard: Int { unsafe Int(slot.header.pointee.home >> Self.indexBits) }

    /// The place of the links.
    var links: UnsafeMutablePointer<Links> {
        unsafe (slot.base + Self.linksOffset).assumingMemoryBound(to: Links.self)
    }
}
