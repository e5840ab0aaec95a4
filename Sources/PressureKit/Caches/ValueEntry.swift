import Synchronization

/// A cache whose values have a type: what ``LazyEntry``, with one slot, and ``KeyedEntry``, with many, have in common.
@safe @usableFromInline
class ValueEntry<Value: Spillable>: CacheEntry, @unchecked Sendable {
    // Sendable: as its superclass.

    // MARK: Filling slots

    /// Puts a value into a slot that nobody else can touch and makes it resident, whatever its word was.
    func fill(_ slot: Slot<Value>, with value: consuming Value) {
        describe(value, in: slot)
        unsafe slot.value.initialize(to: value)
        let word = ResidencyWord.resident(stamp: UseClock.tick())
        unsafe slot.header.pointee.word.store(word.rawValue, ordering: .releasing)
    }

    /// Notes the size of a new value and makes room for its copy, so that spilling it will allocate nothing.
    func describe(_ value: borrowing Value, in slot: Slot<Value>) {
        setFootprint(value.footprint, of: slot)
        let plainByteCount = value.spillByteCount
        unsafe slot.header.pointee.plainByteCount.store(plainByteCount, ordering: .relaxed)
        let before = unsafe slot.header.pointee.copy.chunkCount
        unsafe slot.header.pointee.copy.reserve(byteCount: plainByteCount)
        reserveFrames(unsafe slot.header.pointee.copy.chunkCount - before)
    }

    /// Forgets the copy and the size of a value that is gone.
    func clear(_ slot: Slot<Value>) {
        reserveFrames(unsafe -slot.header.pointee.copy.chunkCount)
        unsafe slot.header.pointee.copy.free()
        setFootprint(0, of: slot)
        unsafe slot.header.pointee.plainByteCount.store(0, ordering: .relaxed)
    }

    /// Empties a slot that was replaced and that nobody holds, and marks it as a spare.
    func empty(_ slot: Slot<Value>) {
        if unsafe slot.header.pointee.state.holdsValue { unsafe slot.value.deinitialize(count: 1) }
        clear(slot)
        unsafe slot.header.pointee.word.store(ResidencyWord.retired.rawValue, ordering: .releasing)
    }

    /// Gives a pin back.
    @inlinable
    func release(_ slot: Slot<Value>) {
        if slot.unpin() { unsafe recycle(slot.base) }
    }

    /// Notes what releasing the value gives back. A cache with a limit counts here.
    func setFootprint(_ footprint: Int, of slot: Slot<Value>) {
        unsafe slot.header.pointee.footprint.store(footprint, ordering: .relaxed)
    }

    // MARK: What the engine asks

    override var spillsInPlace: Bool { Value.spillsInPlace }

    override func withSpillBytes(_ slot: UnsafeMutableRawPointer, _ body: (RawSpan) -> Void) {
        // Resident and `copying`: it is there and nobody changes it.
        unsafe Slot<Value>(base: slot).value.pointee.withSpillBytes(body)
    }

    override func destroyValue(in slot: UnsafeMutableRawPointer, settle: () -> Void) {
        // `releasing`: the value is ours alone.
        let value = unsafe Slot<Value>(base: slot).value.move()
        settle()
        _ = consume value
    }
}
