import PressureSystem
public import Synchronization

/// The engine room of ``LazyCache``: one value, in the slot that readers find, and spare slots to put in its place.
@safe @usableFromInline
final class LazyEntry<Value: Spillable>: ValueEntry<Value>, @unchecked Sendable {
    // Sendable: as its superclass; `spares` is behind a Lock.

    /// The slot that readers find.
    @usableFromInline let current: Atomic<UnsafeMutableRawPointer>
    let loader: (@Sendable () throws -> Value)?
    /// In its place, one that suspends: then nobody who blocks may ask for the value.
    let suspendingLoader: SuspendingLoader<Value>?
    private let spares = Lock<[Slot<Value>]>([])
    /// The thread that is in `set`, `update` or `invalidate`; 0 when there is none.
    let writer = Atomic<UInt32>(0)

    init(
        name: String,
        host: (any CacheHost)?,
        supported: Disposition = .all,
        lifetime: Lifetime? = nil,
        loader: (@Sendable () throws -> Value)?,
        suspendingLoader: SuspendingLoader<Value>? = nil
    ) {
        self.loader = loader
        self.suspendingLoader = suspendingLoader
        unsafe current = Atomic(Slot<Value>.allocate().base)
        super.init(
            name: name,
            hasLoader: loader != nil || suspendingLoader != nil,
            host: host,
            supported: supported,
            lifetime: lifetime
        )
    }

    deinit {
        // Whoever holds a pin holds the entry, so nobody does.
        clear(slot)
        slot.deallocate()
        spares.withLock { spares in
            for slot in spares { slot.deallocate() }
        }
    }

    /// Puts the first value in, before the app has the cache.
    func initialize(with value: consuming Value) {
        // The slot is unloaded and has no loader, so nobody is at work on it.
        let size = ValueSize(value)
        fill(slot, with: value, size)
        finishMutation(slot, hasValue: true)
        keepBudgets()
    }

    /// The slot that readers find now.
    @inlinable var slot: Slot<Value> { unsafe Slot(base: current.load(ordering: .acquiring)) }

    /// The state of that slot.
    var state: ResidencyWord { unsafe slot.header.pointee.state }

    // MARK: Pins

    /// Pins the value where it is, making it first if need be. Blocks while it is being made.
    ///
    /// - Throws: the loader's own error, or ``PressureError``.
    @inlinable
    func acquire() throws -> Slot<Value> {
        let slot = slot
        return !isMortal && slot.pin() ? slot : try acquireSlowly()
    }

    @usableFromInline
    func acquireSlowly() throws -> Slot<Value> {
        if isMortal, let slot = acquireIfResident() { return slot }
        let slot = try acquire(from: find, loader: loader)
        keepBudgets()
        return slot
    }

    /// Pins the value without ever blocking the calling thread.
    @usableFromInline
    func acquire() async throws -> Slot<Value> {
        if isMortal, let slot = acquireIfResident() { return slot }
        let slot =
            if let suspendingLoader {
                try await acquire(from: { self.findSuspending() }, suspendingLoader)
            } else {
                try await acquireSuspending(from: { self.find(begins: $0) }, loader: loader)
            }
        await keepBudgets()
        return slot
    }

    /// Pins the value if there is one, in memory or in a copy; `nil` when there is none. Runs no loader and waits for
    /// none; else blocks.
    func acquireKept() throws -> Slot<Value>? {
        if let slot = acquireIfResident() { return slot }
        let slot = try acquireKept { self.find(begins: $0) }
        keepBudgets()
        return slot
    }

    /// The same without ever blocking the calling thread.
    func acquireKept() async throws -> Slot<Value>? {
        if let slot = acquireIfResident() { return slot }
        let slot =
            if suspendingLoader != nil {
                try await acquireIfAny(from: { self.findSuspending(begins: .restores) }, nil)
            } else {
                try await acquireKeptSuspending { self.find(begins: $0) }
            }
        await keepBudgets()
        return slot
    }

    private func findSuspending(begins: Beginning = .either) -> (slot: Slot<Value>, turn: SuspendingTurn?) {
        let slot = slot
        return (slot, suspendingTurn(slot, begins: begins))
    }

    private func find(begins: Beginning) -> (slot: Slot<Value>, turn: Turn?) {
        let slot = slot
        return (slot, turn(slot, begins: begins))
    }

    /// Pins the value if it is there and nobody is at work on it. Never waits.
    @inlinable
    func acquireIfResident() -> Slot<Value>? {
        if isMortal, !attend() { return nil }
        let slot = slot
        return slot.pin() ? slot : nil
    }

    // MARK: Reads

    /// Begins to read the value, making it first if need be. Blocks while it is being made.
    ///
    /// - Throws: the loader's own error, or ``PressureError``.
    @inlinable
    func read() throws -> ReadAccess<Value> {
        if !isMortal, let reading = read(slot) { return reading }
        return ReadAccess(slot: try acquireSlowly())
    }

    /// Begins to read the value if it is there and nobody is at work on it. Never waits.
    @inlinable
    func readIfResident() -> ReadAccess<Value>? {
        isMortal ? acquireIfResident().map { ReadAccess(slot: $0) } : read(slot)
    }

    // MARK: Spare slots

    /// A slot for a value that takes another's place. Its word says `retired`, or `unloaded` in a new one.
    func spareSlot() -> Slot<Value> { spares.withLock { $0.popLast() } ?? .allocate() }

    @usableFromInline
    override func recycle(_ slot: UnsafeMutableRawPointer) {
        let slot = unsafe Slot<Value>(base: slot)
        // Abandoned: we are the last to touch it until it is handed out again.
        empty(slot)
        spares.withLock { $0.append(slot) }
    }

    // MARK: What the engine and the manager ask

    override func save(to writer: StateFrames) throws -> StateManifest.Cache? {
        try saved(to: writer).map { StateManifest.Cache(name: name, type: typeName, layout: layout, values: [$0]) }
    }

    override func adopt(_ saved: SavedCache) throws(PressureError) -> Int? {
        try check(saved.cache)
        guard let value = saved.cache.values.first, value.key == nil else { return nil }
        try adopt(value, in: saved.file)
        return value.storedByteCount
    }

    override func digestedValues() throws -> [DigestedValue] { try digestedValue() }

    override var variant: CacheVariant { unsafe slot.header.pointee.loadedVariant }

    override func bringFullBack() throws { try exchangeAlternate() }

    override func bringFullBackSuspending() async throws {
        guard let suspendingLoader else {
            return try await Load.job(on: .loads) { try self.exchangeAlternate() }
        }
        try await exchangeAlternate(suspendingLoader)
    }

    override func bringBack() throws {
        guard suspendingLoader != nil else { return release(try acquire()) }
        // A copy. What has gone meanwhile is loaded by whoever asks for it.
        try acquireKept().map(release)
    }

    override func bringBackSuspending() async throws { release(try await acquire()) }

    override var residency: Residency { state.residency }

    override var footprint: Int { unsafe slot.header.pointee.footprint.load(ordering: .relaxed) }

    override var residentByteCount: Int { state.isResident ? footprint : 0 }

    override var pins: Int { state.pins + HazardScan.uncounted.count { $0 == slot.address } }

    override var hasCopy: Bool { state.isClean }

    override var stamp: UInt32 { state.stamp }

    override func age(of slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe Slot<Value>(base: slot).age
    }

    override func forEachSlot(_ body: (UnsafeMutableRawPointer) -> Void) { unsafe body(slot.base) }
}
