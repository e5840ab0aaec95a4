import Glibc
public import Synchronization

/// The engine room of ``LazyCache``: readers on the fast path, and the one thread that makes the value on the slow one.
@usableFromInline
final class LazyEntry<Value: Spillable>: CacheEntry, @unchecked Sendable {
    // Sendable: as its superclass; `spares` is behind a Lock.

    let loader: (@Sendable () throws -> Value)?
    private let spares = Lock<[Slot<Value>]>([])
    /// The thread that is in `set`, `update` or `invalidate`; 0 when there is none.
    let writer = Atomic<UInt>(0)

    init(
        name: String,
        controller: PressureController?,
        loader: (@Sendable () throws -> Value)?
    ) {
        self.loader = loader
        let slot = Slot<Value>.allocate()
        unsafe super.init(name: name, hasLoader: loader != nil, controller: controller, slot: slot.base)
    }

    /// Puts the first value in, before the app has the cache.
    func initialize(with value: consuming Value) {
        // The slot is unloaded and has no loader, so nobody is at work on it.
        fill(slot, with: value)
    }

    deinit {
        // Whoever holds a pin holds the entry, so nobody does.
        unsafe header(currentSlot).pointee.copy.free()
        unsafe Slot<Value>(base: currentSlot).deallocate()
        spares.withLock { spares in
            for slot in spares { slot.deallocate() }
        }
    }

    /// The slot that readers find now.
    @inlinable var slot: Slot<Value> { unsafe Slot(base: current.load(ordering: .acquiring)) }

    // MARK: Pins

    /// Pins the value where it is, making it first if need be. Blocks while it is being made.
    ///
    /// - Throws: the loader's own error, or ``PressureError``.
    @inlinable
    func acquire() throws -> Slot<Value> {
        let slot = slot
        return slot.pin() ? slot : try acquireSlowly()
    }

    /// Gives a pin back.
    @inlinable
    func release(_ slot: Slot<Value>) {
        if slot.unpin() { unsafe recycle(slot.base) }
    }

    /// Pins the value if it is there and nobody is at work on it. Never waits.
    @inlinable
    func acquireIfResident() -> Slot<Value>? {
        let slot = slot
        return slot.pin() ? slot : nil
    }

    // MARK: Slots

    /// A slot for a value that takes another's place. Its word says `retired` until it is filled.
    func spareSlot() -> Slot<Value> { spares.withLock { $0.popLast() } ?? .allocate() }

    /// Puts a value into a slot that nobody else can touch and makes it resident. What `word` was, it is overwritten.
    func fill(_ slot: Slot<Value>, with value: consuming Value) {
        describe(value, in: slot)
        unsafe slot.value.initialize(to: value)
        let word = ResidencyWord.resident(stamp: UseClock.tick())
        unsafe noteArrival(in: slot.base, word)
        unsafe slot.header.pointee.word.store(word.rawValue, ordering: .releasing)
    }

    /// Notes the size of a new value and makes room for its copy, so that spilling it will allocate nothing.
    func describe(_ value: borrowing Value, in slot: Slot<Value>) {
        unsafe slot.header.pointee.footprint.store(value.footprint, ordering: .relaxed)
        let spillByteCount = value.spillByteCount
        unsafe slot.header.pointee.spillByteCount.store(spillByteCount, ordering: .relaxed)
        unsafe slot.header.pointee.copy.reserve(byteCount: spillByteCount)
        reserveFrames(forByteCount: spillByteCount)
    }

    @usableFromInline
    override func recycle(_ slot: UnsafeMutableRawPointer) {
        let slot = unsafe Slot<Value>(base: slot)
        // Abandoned: we are the last to touch it until it is handed out again.
        if unsafe slot.header.pointee.state.holdsValue { unsafe slot.value.deinitialize(count: 1) }
        unsafe slot.header.pointee.copy.free()
        unsafe slot.header.pointee.word.store(ResidencyWord.retired.rawValue, ordering: .releasing)
        spares.withLock { $0.append(slot) }
    }

    // MARK: What the engine and the manager ask

    override func bringBack() throws { release(try acquire()) }

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
