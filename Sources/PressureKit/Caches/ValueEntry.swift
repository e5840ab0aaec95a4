import CLinuxShims
import PressureSystem
import Synchronization

/// A cache whose values have a type: what ``LazyEntry``, with one slot, and ``KeyedEntry``, with many, have in common.
@safe @usableFromInline
class ValueEntry<Value: Spillable>: CacheEntry, @unchecked Sendable {
    // Sendable: as its superclass.

    /// What tasks are bringing into memory, by the addresses of its slots. Nothing where loaders do not suspend.
    let makings = Lock<[UInt: Making]>([:])

    /// How far from the beginning of a slot the word is that says where the value's bytes lie; `nil` if there is none.
    private let blockOffset = (Value.self as? any OneBlock.Type).map {
        Slot<Value>.valueOffset + $0.blockWord * MemoryLayout<UInt>.stride
    }

    // MARK: Filling slots

    /// Puts a value of a known size, or none, into a slot that nobody else works on, and leaves it `mutating`: who finds
    /// it there waits. Runs no code of the app's: a lock may be held.
    func fill(_ slot: Slot<Value>, with value: consuming Value?, _ size: ValueSize?) {
        unsafe slot.header.pointee.word.store(ResidencyWord.mutating.rawValue, ordering: .relaxed)
        guard let value, let size else { return clear(slot) }
        note(size, in: slot)
        unsafe slot.value.initialize(to: value)
        noteArrival(size.footprint, values: 1)
    }

    /// Notes the size of a new value and makes room for its copy, so that spilling it will allocate nothing.
    func note(_ size: ValueSize, in slot: Slot<Value>) {
        unsafe slot.header.pointee.variant.store(CacheVariant.full.rawValue, ordering: .relaxed)
        unsafe slot.header.pointee.footprint.store(size.footprint, ordering: .relaxed)
        unsafe slot.header.pointee.plainByteCount.store(size.plainByteCount, ordering: .relaxed)
        unsafe noteWrite(slot.base)
        let before = unsafe slot.copy.pointee.chunkCount
        // For bytes that have yet to be made, room is made when they are.
        unsafe slot.copy.pointee.reserve(byteCount: max(0, size.plainByteCount))
        reserveFrames(unsafe slot.copy.pointee.chunkCount - before)
    }

    /// Changes a value in a slot that this thread has made its own, and says by how many bytes that grew: also into what it
    /// had reserved, which is memory only once it is written to.
    func updateInPlace<Result>(
        _ slot: Slot<Value>,
        _ body: (inout Value) throws -> Result
    ) -> (result: Swift.Result<Result, any Error>, growth: Int) {
        let before = unsafe slot.header.pointee.size
        slot.nameMaker(.currentThread)
        let result = Swift.Result { unsafe try body(&slot.value.pointee) }
        // Also when the body throws: it may have changed the value before. Nothing is locked, and this thread is named
        // as the maker: a value that reads its own cache here gets `recursiveAccess`.
        let size = unsafe ValueSize(slot.value.pointee, changedFrom: before)
        let growth = size.footprint - before.footprint
        note(size, in: slot)
        noteArrival(growth, values: 0)
        slot.nameMaker(0)
        finishMutation(slot, hasValue: true)
        return (result, max(growth, size.plainByteCount - before.plainByteCount))
    }

    /// Replaces a value, or takes it away, in a slot that this thread has made its own. Returns the old value, to be let
    /// go with nothing held: its destruction may run code of the app.
    func replace(
        in slot: Slot<Value>,
        hadValue: Bool,
        with value: consuming Value?,
        _ size: ValueSize?,
        isReloadable: Bool = false
    ) -> Value? {
        let old = hadValue ? unsafe slot.value.move() : nil
        if hadValue { noteArrival(unsafe -slot.header.pointee.footprint.load(ordering: .relaxed), values: -1) }
        if let value, let size {
            note(size, in: slot)
            noteArrival(size.footprint, values: 1)
            unsafe slot.value.initialize(to: value)
            finishMutation(slot, hasValue: true, isReloadable: isReloadable)
        } else {
            clear(slot)
            finishMutation(slot, hasValue: false)
        }
        return old
    }

    /// Whether what was set may be dropped like what a loader made.
    var setValuesAreReloadable: Bool { false }

    /// Ends a change: the slot is read again.
    func finishMutation(_ slot: Slot<Value>, hasValue: Bool, isReloadable: Bool = false) {
        let isReloadable = isReloadable || hasValue && setValuesAreReloadable
        guard
            let step = unsafe slot.header.pointee.apply({
                $0.finishingMutation(hasValue: hasValue, stamp: UseClock.tick(), isReloadable: isReloadable)
            })
        else { preconditionFailure("finished a change that was not begun") }
        unsafe didArrive(in: slot.base, step.after)
        unsafe wake(slot.base, after: step.before)
    }

    /// Forgets the copy and the size of a value that is gone.
    func clear(_ slot: Slot<Value>) {
        reserveFrames(unsafe -slot.copy.pointee.chunkCount)
        unsafe slot.copy.pointee.free()
        unsafe slot.header.pointee.footprint.store(0, ordering: .relaxed)
        unsafe slot.header.pointee.plainByteCount.store(0, ordering: .relaxed)
    }

    /// Empties a slot that was replaced and that nobody holds, and marks it as a spare.
    func empty(_ slot: Slot<Value>) {
        if unsafe slot.header.pointee.state.holdsValue {
            unsafe slot.value.deinitialize(count: 1)
            noteArrival(unsafe -slot.header.pointee.footprint.load(ordering: .relaxed), values: -1)
        }
        clear(slot)
        unsafe slot.header.pointee.word.store(ResidencyWord.retired.rawValue, ordering: .releasing)
    }

    /// Gives a pin back.
    @inlinable
    func release(_ slot: Slot<Value>) {
        if slot.unpin() { unsafe recycle(slot.base) }
    }

    /// Bytes and values have come into memory, or with negative numbers left. A cache with a limit counts them too.
    func noteArrival(_ bytes: Int, values: Int) { noteInBooks(bytes) }

    /// A writer has brought so many bytes. Where that leaves too little memory, it waits until some is freed; a loader that
    /// writes does not wait for itself.
    func waitForRoom(after bytes: Int) {
        if bytes > 0 { host?.admission?.arrived(bytes, isNested: Load.isAround) }
    }

    /// The same for one that must not block.
    func waitForRoom(after bytes: Int) async {
        if bytes > 0 { await host?.admission?.arrivedSuspending(bytes, isNested: Load.isAround) }
    }

    /// A value has come into memory: the cache keeps to its limit, and budgets above it are kept to. Blocks no thread.
    func makeRoom() async { await keepBudgets() }

    // MARK: What the engine asks

    override var spillsInPlace: Bool { Value.spillsInPlace }

    override func withSpillBytes(_ slot: UnsafeMutableRawPointer, _ body: (RawSpan) -> Void) {
        // Resident and `copying`: it is there and nobody changes it.
        unsafe Slot<Value>(base: slot).value.pointee.withSpillBytes(body)
    }

    override func region(of slot: UnsafeMutableRawPointer) -> UInt32 {
        guard let blockOffset else { return 0 }
        // A slot's memory stays. The value may leave at any time, and then this was true a moment ago.
        return HeapRegions.number(of: unsafe pk_peek(slot + blockOffset))
    }

    override var encodesWhenSpilled: Bool { Value.encodesWhenSpilled }

    override func writeSpillBytes(_ slot: UnsafeMutableRawPointer, to writer: SpillWriter) throws {
        // As above.
        try unsafe Slot<Value>(base: slot).value.pointee.writeSpillBytes(to: writer)
    }

    override func destroyValue(in slot: UnsafeMutableRawPointer, settle: () -> Void) {
        // `releasing`: the value is ours alone.
        let value = unsafe Slot<Value>(base: slot).value.move()
        noteArrival(unsafe -header(slot).pointee.footprint.load(ordering: .relaxed), values: -1)
        settle()
        _ = consume value
    }
}
