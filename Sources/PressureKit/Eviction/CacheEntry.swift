import PressureSystem
import SpillStore
import Synchronization

/// A cache as the eviction engine and the controllers see it: without the type of its value.
///
/// The engine names a value by its entry and the address of its slot, because the entry may put another slot in its
/// place while a copy is being written.
@safe @usableFromInline
package class CacheEntry: @unchecked Sendable {
    // Sendable: constants, atomics, and slots that their words guard.

    /// The name given at registration; siblings that share one are told apart by a suffix.
    package let name: String
    /// Whether the value can be made again.
    package let hasLoader: Bool
    /// Whom it was registered with. That one keeps the entry, not the other way round.
    weak let host: (any CacheHost)?
    /// Where the frames that this cache may need are counted: at the first manager it belonged to.
    private let ledger = AtomicLazyReference<FrameLedger>()
    private let frames = Atomic<Int>(0)
    /// How many values it may come to have before it asks for more room in plans.
    private let room = Atomic<Int>(1)
    /// Measured times and counts.
    package let statistics = CacheStatistics()
    /// What it is to the tree of controllers.
    let traits: CacheTraits
    /// For how long its values may be read; `nil` for ever.
    let lifetimes: Lifetimes?
    /// Whether that is not for ever.
    @usableFromInline let isMortal: Bool

    init(
        name: String,
        hasLoader: Bool,
        host: (any CacheHost)?,
        supported: Disposition = .all,
        lifetime: Lifetime? = nil
    ) {
        traits = CacheTraits(supported: supported)
        lifetimes = lifetime.map(Lifetimes.init)
        isMortal = lifetime != nil
        self.name = name
        self.hasLoader = hasLoader
        self.host = host
    }

    deinit {
        ledger.load()?.addValues(-room.load(ordering: .relaxed), caches: -1)
        ledger.load()?.add(-frames.load(ordering: .relaxed))
    }

    /// Counts this cache and its frames at a manager, unless they are counted at one already.
    package func join(_ ledger: FrameLedger) {
        guard self.ledger.load() !== ledger else { return }
        // One that comes from another manager stays counted here too.
        ledger.addValues(room.load(ordering: .relaxed), caches: 1)
        guard self.ledger.load() == nil, self.ledger.storeIfNil(ledger) === ledger else { return }
        ledger.add(frames.load(ordering: .relaxed))
    }

    /// How many values plans have been asked to make room for.
    var reservedRoom: Int { room.load(ordering: .relaxed) }

    /// Has plans make room for `count` values more. Allocates.
    func reserveRoom(_ count: Int) {
        room.wrappingAdd(count, ordering: .relaxed)
        ledger.load()?.addValues(count)
        host?.reservePlans()
    }

    /// Has the spill file make room for the frames of values that came, or with a negative number went.
    func reserveFrames(_ count: Int) {
        guard count != 0 else { return }
        frames.wrappingAdd(count, ordering: .relaxed)
        ledger.load()?.add(count)
    }

    /// Bytes of values have come into memory, or with a negative number left. Takes no lock: some of the callers hold one.
    func noteInBooks(_ bytes: Int) { ledger.load()?.books.note(bytes) }

    /// A reclaim has taken so many of them.
    func noteInBooks(evicted bytes: Int) { ledger.load()?.books.note(evicted: bytes) }

    /// Readers have waited so many nanoseconds for a value that had been evicted.
    func noteInBooks(awaited nanoseconds: Int) { ledger.load()?.books.note(awaited: nanoseconds) }

    /// Where the cache is in the tree, such as `"gallery/thumbnails"`. Allocates.
    package var path: String {
        guard let parent = host?.path, !parent.isEmpty else { return name }
        return "\(parent)/\(name)"
    }

    /// The same for one value: a cache with many adds the key. Allocates.
    func path(of slot: UnsafeMutableRawPointer) -> String { path }

    /// The same for later, when the slot may be another key's.
    func naming(_ slot: UnsafeMutableRawPointer) -> @Sendable () -> String { { [weak self] in self?.path ?? "" } }

    /// Adds what it has given up to wait for since the last time. Nothing, for caches that forget nothing.
    func reportEnds(to table: inout UseTable) {}

    /// The header of a slot of this entry.
    func header(_ slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SlotHeader> {
        // Every slot begins with its header, and lives as long as the entry.
        unsafe slot.assumingMemoryBound(to: SlotHeader.self)
    }

    /// The bytes that a copy of a slot's value has to hold. An estimate for a value whose bytes have yet to be made, and
    /// exact once there is a copy.
    func plainByteCount(_ slot: UnsafeMutableRawPointer) -> Int {
        let count = unsafe header(slot).pointee.plainByteCount.load(ordering: .relaxed)
        guard count < 0 else { return count }
        let footprint = unsafe header(slot).pointee.footprint.load(ordering: .relaxed)
        return statistics.expectedPlainByteCount(footprint: footprint)
    }

    /// The copy of a slot of this entry.
    func copy(_ slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SpillCopy> {
        // Every slot has one behind its header; whose it is, its word says.
        unsafe (slot + SlotHeader.copyOffset).assumingMemoryBound(to: SpillCopy.self)
    }

    // MARK: For subclasses, which know their slots

    /// Where the value is; of a cache with many, where the one is that is nearest to memory.
    package var residency: Residency { preconditionFailure("a subclass answers this") }

    /// The bytes that releasing the value gives back, or gave back; of a cache with many, those of all in memory.
    package var footprint: Int { preconditionFailure("a subclass answers this") }

    /// The bytes of values in memory. Allocates nothing.
    var residentByteCount: Int { preconditionFailure("a subclass answers this") }

    /// How many values there are, in memory or not.
    var valueCount: Int { 1 }

    /// How many accesses and leases hold values.
    package var pins: Int { preconditionFailure("a subclass answers this") }

    /// Whether a checked copy is in the spill file.
    package var hasCopy: Bool { preconditionFailure("a subclass answers this") }

    /// The ``UseClock`` reading of the last use.
    package var stamp: UInt32 { preconditionFailure("a subclass answers this") }

    /// Passes the slot of every value, in memory or not, to `body`. Takes the locks of a cache with many in turn, and
    /// allocates nothing.
    func forEachSlot(_ body: (UnsafeMutableRawPointer) -> Void) { preconditionFailure("a subclass answers this") }

    /// The same for idle time, when nobody may be kept waiting: a lock is held for a bounded number of slots. What comes
    /// or goes meanwhile may be left out, and slots without a value may be passed too.
    func forEachSlotInSlices(_ body: (UnsafeMutableRawPointer) -> Void) { unsafe forEachSlot(body) }

    /// Whether it has one value, loaded or not: a sample takes or leaves it as a whole.
    var hasOneValue: Bool { true }

    /// Lists every value that could leave memory, and those that cannot now. Without the locks of the tree; allocates
    /// nothing.
    func list(in storage: PlanStorage, canSpill: Bool, isVisible: Bool, depth: UInt16) {
        unsafe forEachSlot { slot in
            unsafe list(slot, in: storage, canSpill: canSpill, isVisible: isVisible, depth: depth)
        }
    }

    /// Where the raw value of a slot's ``ValueAge`` is. Not asked of a cache whose values do not end.
    func age(of slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
        preconditionFailure("a subclass answers this")
    }

    // MARK: For subclasses, which know the type of the value

    /// Whether the value's bytes can be had at no cost, by several threads at once.
    var spillsInPlace: Bool { preconditionFailure("a subclass answers this") }

    /// Passes the value's bytes to `body`; not called when the value cannot be written. The slot is being copied.
    func withSpillBytes(_ slot: UnsafeMutableRawPointer, _ body: (RawSpan) -> Void) {
        preconditionFailure("a subclass answers this")
    }

    /// Whether the value's bytes are made when it is copied, and how many they are is not known before.
    var encodesWhenSpilled: Bool { preconditionFailure("a subclass answers this") }

    /// In which of the ``HeapRegions`` the value's bytes lie, or a moment ago did; 0 for unknown. Of a slot that is nobody's.
    func region(of slot: UnsafeMutableRawPointer) -> UInt32 { 0 }

    /// Makes the value's bytes, where ``encodesWhenSpilled``. The slot is being copied.
    func writeSpillBytes(_ slot: UnsafeMutableRawPointer, to writer: SpillWriter) throws {
        preconditionFailure("a subclass answers this")
    }

    /// Moves the value out of a slot whose release has begun, calls `settle` to end the release, and only then lets
    /// the value go: its destruction may be long, and may run code of the app.
    func destroyValue(in slot: UnsafeMutableRawPointer, settle: () -> Void) {
        preconditionFailure("a subclass answers this")
    }

    /// Whether the value is brought back ahead of its next use, by the two methods below.
    var comesBack: Bool { true }

    /// Loads or restores the value if it is not in memory. Blocks.
    func bringBack() throws { preconditionFailure("a subclass answers this") }

    /// The same without blocking the calling thread.
    func bringBackSuspending() async throws { preconditionFailure("a subclass answers this") }

    /// Which value the cache has.
    var variant: CacheVariant { .full }

    /// Loads the full value and puts it in place of the lighter one, if that is what there is. Blocks.
    func bringFullBack() throws {}

    /// The same without blocking the calling thread.
    func bringFullBackSuspending() async throws {}

    /// What a saved state says of the cache, with its values written to `writer`; `nil` when there are none. Blocks.
    func save(to writer: StateFrames) throws -> StateManifest.Cache? { nil }

    /// Puts what was saved in place of what there is. Returns its bytes on disk; `nil` when that was not possible.
    ///
    /// - Throws: ``PressureError`` with `stateMismatch` when values of another type or layout were saved, or
    ///   `recursiveAccess`.
    func adopt(_ saved: SavedCache) throws(PressureError) -> Int? { nil }

    /// Every value there is, read where it is. Blocks.
    func digestedValues() throws -> [DigestedValue] { [] }

    /// A value has left memory without a copy, or could not be made. A cache with many forgets its key.
    func didDrop(_ slot: UnsafeMutableRawPointer) {}

    /// Empties a slot that was replaced and is no longer held, and keeps it for reuse.
    @usableFromInline
    func recycle(_ slot: UnsafeMutableRawPointer) { preconditionFailure("a subclass answers this") }
}
