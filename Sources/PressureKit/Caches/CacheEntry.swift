public import Synchronization

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
    /// The controller it was registered with. It keeps the entry, not the other way round.
    package weak let controller: PressureController?
    /// The slot that readers find.
    @usableFromInline let current: Atomic<UnsafeMutableRawPointer>
    /// Where the frames that this cache may need are counted: at the first manager it belonged to.
    private let ledger = AtomicLazyReference<FrameLedger>()
    private let frames = Atomic<Int>(0)
    /// Measured times and counts.
    package let statistics = CacheStatistics()

    init(name: String, hasLoader: Bool, controller: PressureController?, slot: UnsafeMutableRawPointer) {
        self.name = name
        self.hasLoader = hasLoader
        self.controller = controller
        unsafe current = Atomic(slot)
    }

    deinit {
        ledger.load()?.addEntry(-1)
        ledger.load()?.add(-frames.load(ordering: .relaxed))
    }

    /// Counts this cache and its frames at a manager, unless they are counted at one already.
    package func join(_ ledger: FrameLedger) {
        guard self.ledger.load() !== ledger else { return }
        // One that comes from another manager stays counted here too.
        ledger.addEntry(1)
        guard self.ledger.load() == nil, self.ledger.storeIfNil(ledger) === ledger else { return }
        ledger.add(frames.load(ordering: .relaxed))
    }

    /// Has the spill file make room for the frames of a value of this size.
    func reserveFrames(forByteCount byteCount: Int) {
        let count = SegmentFile.chunkCount(forByteCount: byteCount)
        let before = frames.exchange(count, ordering: .relaxed)
        ledger.load()?.add(count - before)
    }

    /// Where the cache is in the tree, such as `"gallery/thumbnails"`. Allocates.
    package var path: String {
        guard let parent = controller?.path, !parent.isEmpty else { return name }
        return "\(parent)/\(name)"
    }

    /// The slot that readers find now.
    var currentSlot: UnsafeMutableRawPointer { unsafe current.load(ordering: .acquiring) }

    /// The header of a slot of this entry.
    func header(_ slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SlotHeader> {
        // Every slot begins with its header, and lives as long as the entry.
        unsafe slot.assumingMemoryBound(to: SlotHeader.self)
    }

    /// The copy of a slot of this entry.
    func copy(_ slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<SpillCopy> {
        // Every slot has one behind its header; whose it is, its word says.
        unsafe (slot + SlotHeader.copyOffset).assumingMemoryBound(to: SpillCopy.self)
    }

    /// The state of the current slot.
    package var state: ResidencyWord { unsafe header(currentSlot).pointee.state }

    /// The bytes that releasing the value would give back now.
    package var footprint: Int { unsafe header(currentSlot).pointee.footprint.load(ordering: .relaxed) }

    /// The bytes that a copy of the value in a slot has to hold.
    func spillByteCount(_ slot: UnsafeMutableRawPointer) -> Int {
        unsafe header(slot).pointee.spillByteCount.load(ordering: .relaxed)
    }

    // MARK: For subclasses, which know the type of the value

    /// Whether the value's bytes can be had at no cost, by several threads at once.
    var spillsInPlace: Bool { preconditionFailure("a subclass answers this") }

    /// Passes the value's bytes to `body`; not called when the value cannot be written. The slot is being copied.
    func withSpillBytes(_ slot: UnsafeMutableRawPointer, _ body: (RawSpan) -> Void) {
        preconditionFailure("a subclass answers this")
    }

    /// Moves the value out of a slot whose release has begun, calls `settle` to end the release, and only then lets
    /// the value go: its destruction may be long, and may run code of the app.
    func destroyValue(in slot: UnsafeMutableRawPointer, settle: () -> Void) {
        preconditionFailure("a subclass answers this")
    }

    /// Loads or restores the value if it is not in memory. Blocks.
    func bringBack() throws { preconditionFailure("a subclass answers this") }

    /// Empties a slot that was replaced and is no longer held, and keeps it for reuse.
    func recycle(_ slot: UnsafeMutableRawPointer) { preconditionFailure("a subclass answers this") }
}
