public import Synchronization

/// One place for a value: a ``SlotHeader``, a ``SpillCopy`` and room for the value behind each other, in memory that stays
/// a slot until the cache itself goes.
///
/// Slots are reused, never freed early, so a reader that looks at a slot which has just been replaced reads a word
/// that tells it so, not freed memory.
@usableFromInline
@safe
struct Slot<Value>: @unchecked Sendable {
    // Sendable and safe: `base` points to a slot that its entry keeps until no reader is left, and what lies there is
    // guarded by its word.
    @usableFromInline let base: UnsafeMutableRawPointer

    @inlinable
    init(base: UnsafeMutableRawPointer) { unsafe self.base = base }

    /// The slot's address, by which sleepers are found.
    @inlinable var address: UInt { UInt(bitPattern: unsafe base) }

    /// The header.
    @inlinable var header: UnsafeMutablePointer<SlotHeader> {
        unsafe base.assumingMemoryBound(to: SlotHeader.self)
    }

    /// What is known of the copy in the spill file.
    var copy: UnsafeMutablePointer<SpillCopy> {
        unsafe (base + SlotHeader.copyOffset).assumingMemoryBound(to: SpillCopy.self)
    }

    /// The place of the value, initialised or not as the word says.
    @inlinable var value: UnsafeMutablePointer<Value> {
        unsafe (base + Self.valueOffset).assumingMemoryBound(to: Value.self)
    }

    @inlinable static var valueOffset: Int {
        let alignment = MemoryLayout<Value>.alignment
        return (SlotHeader.copyOffset + MemoryLayout<SpillCopy>.size + alignment - 1) & ~(alignment - 1)
    }

    /// Of a slot made by ``allocate()``: where the raw value of the ``ValueAge`` is, behind the value.
    private static var ageOffset: Int {
        let alignment = MemoryLayout<Atomic<UInt64>>.alignment
        return (valueOffset + MemoryLayout<Value>.size + alignment - 1) & ~(alignment - 1)
    }

    /// The age of a slot made by ``allocate()``.
    var age: UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe (base + Self.ageOffset).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// A new slot, unloaded.
    static func allocate() -> Slot {
        // Freed by `deallocate`; aligned for both parts, and a cache line so that neighbours do not share one.
        let base = UnsafeMutableRawPointer.allocate(
            byteCount: ageOffset + MemoryLayout<Atomic<UInt64>>.size,
            alignment: max(64, MemoryLayout<Value>.alignment)
        )
        let slot = unsafe Slot(base: base)
        slot.initialize()
        unsafe slot.age.initialize(to: Atomic(0))
        return slot
    }

    /// Makes a slot, unloaded, of memory that is none yet.
    func initialize(home: UInt32 = 0) {
        unsafe base.initializeMemory(as: SlotHeader.self, to: SlotHeader(home: home))
        unsafe copy.initialize(to: SpillCopy())
    }

    /// Destroys what is in a slot that nobody can reach any more.
    func destroy() {
        let state = unsafe header.pointee.state
        if state.isResident || state.holdsValue { unsafe value.deinitialize(count: 1) }
        unsafe copy.deinitialize(count: 1)
        unsafe header.deinitialize(count: 1)
    }

    /// Destroys a slot that was made by ``allocate()`` and frees it.
    func deallocate() {
        destroy()
        unsafe base.deallocate()
    }

    /// One more pin, if the value is resident. Wait-free but for contention.
    @inlinable
    func pin() -> Bool {
        let stamp = UseClock.now
        var current = unsafe header.pointee.word.load(ordering: .relaxed)
        while let next = ResidencyWord(rawValue: current).pinning(stamp: stamp) {
            let (exchanged, original) = unsafe header.pointee.word.weakCompareExchange(
                expected: current,
                desired: next.rawValue,
                successOrdering: .acquiring,
                failureOrdering: .relaxed
            )
            if exchanged { return true }
            current = original
        }
        return false
    }

    /// Gives one pin back; returns whether it was the last one of a slot that has been replaced.
    @inlinable
    func unpin() -> Bool { unsafe header.pointee.unpin() }
}
