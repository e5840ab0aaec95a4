import CLinuxShims
import Synchronization

/// A part of a keyed cache with a lock of its own: the table, the slots in blocks that never move, the free ones, and the
/// order in which values arrived.
@safe @usableFromInline
struct KeyedShard<Key: Hashable & Sendable, Value: Spillable>: @unchecked Sendable {
    // Sendable and safe: touched only under its lock, but for what its front publishes; blocks live until `deallocate`.
    @usableFromInline typealias Place = KeyedSlot<Key, Value>

    /// No index.
    static var none: UInt32 { .max }
    /// Slots to a block: enough that the block's pointer costs a slot nothing, little enough for a small cache.
    @inlinable static var blockShift: UInt32 { 5 }
    static var blockSize: Int { 1 << blockShift }

    @usableFromInline var table: KeyTable
    @usableFromInline var blocks: SlotBlocks
    /// Reads that found their value under the lock.
    @usableFromInline var hits = 0
    /// This shard's number among its siblings.
    private let number: UInt32
    private var unused: UInt32 = 0
    private var freeList = Self.none
    private var oldest = Self.none
    private var newest = Self.none
    /// What was dropped a while ago.
    var ghosts = GhostList()
    /// Where SIEVE looks next.
    private var hand = Self.none
    /// Whether values end: then every block has the ages of its slots behind them.
    private let isMortal: Bool

    /// - Parameter front: where readers without the lock find the table and the blocks.
    init(number: Int, isMortal: Bool = false, front: ShardFront? = nil) {
        unsafe table = KeyTable(published: front?.cells)
        unsafe blocks = SlotBlocks(published: front?.blocks)
        self.number = UInt32(number)
        self.isMortal = isMortal
    }

    /// The raw value of a slot's ``ValueAge``, in a cache whose values end. Found without the shard's lock: blocks never move.
    static func age(of slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
        let place = unsafe Place(slot: Slot(base: slot))
        let number = Int(place.index) & (blockSize - 1)
        let ages = unsafe slot + (blockSize - number) * Place.stride
        return unsafe ages.assumingMemoryBound(to: Atomic<UInt64>.self) + number
    }

    /// The slot with an index.
    @inlinable
    func place(_ index: UInt32) -> Place {
        unsafe Self.place(index, in: blocks.list)
    }

    /// The slot with an index, in a list of blocks that has it.
    @inlinable
    static func place(_ index: UInt32, in list: SlotBlocks.List) -> Place {
        let block = unsafe list[Int(index >> blockShift)]
        let offset = Int(index & (1 << blockShift - 1)) * Place.stride
        return unsafe Place(slot: Slot(base: block + offset))
    }

    /// The index of a key's slot.
    @inlinable
    func index(of key: Key, _ hash: UInt32) -> UInt32? {
        table.find(hash) { unsafe place($0).key.pointee == key }
    }

    /// The bytes kept for every slot and cell there is, values and keys included.
    var byteCount: Int { table.byteCount + slotCount * Place.stride + ghosts.byteCount + slotCount * ageSize }

    private var ageSize: Int { isMortal ? MemoryLayout<Atomic<UInt64>>.size : 0 }

    /// How many slots there is memory for.
    var slotCount: Int { blocks.count * Self.blockSize }

    // MARK: Slots come and go

    /// A slot for a key that is not in the table, at the new end of the order. Its word says `retired`.
    mutating func insert(_ key: Key, _ hash: UInt32) -> Place {
        let index = takeSpare()
        let place = place(index)
        unsafe place.key.initialize(to: key)
        unsafe place.slot.header.pointee.remember(.new)
        unsafe place.links.pointee.older = newest
        unsafe place.links.pointee.newer = Self.none
        if newest == Self.none { oldest = index } else { unsafe self.place(newest).links.pointee.newer = index }
        newest = index
        table.insert(hash, index)
        return place
    }

    /// A slot to put in place of a key's present one, which stays out of the table until its last reader is gone.
    mutating func replace(_ index: UInt32, _ hash: UInt32) -> Place {
        let key = unsafe place(index).key.pointee
        remove(index, hash)
        return insert(key, hash)
    }

    /// Takes a slot out of the table and the order. It is not spare yet: see ``free(_:)``.
    mutating func remove(_ index: UInt32, _ hash: UInt32) {
        table.remove(hash, index)
        let links = unsafe place(index).links.pointee
        if hand == index { hand = links.newer }
        if links.older == Self.none {
            oldest = links.newer
        } else {
            unsafe place(links.older).links.pointee.newer = links.newer
        }
        if links.newer == Self.none {
            newest = links.older
        } else {
            unsafe place(links.newer).links.pointee.older = links.older
        }
    }

    /// Makes a removed slot, which nobody holds any more, spare. Returns its key, to be let go when the shard is unlocked.
    mutating func free(_ index: UInt32) -> Key {
        unsafe place(index).links.pointee.newer = freeList
        freeList = index
        return unsafe place(index).key.move()
    }

    private mutating func takeSpare() -> UInt32 {
        if freeList != Self.none {
            let index = freeList
            freeList = unsafe place(index).links.pointee.newer
            return index
        }
        if Int(unused) == slotCount {
            unsafe blocks.append(
                .allocate(byteCount: Self.blockSize * (Place.stride + ageSize), alignment: max(64, Place.alignment))
            )
            // Now, since nothing may be allocated when something is dropped.
            ghosts.reserve(slotCount)
        }
        let index = unused
        unused += 1
        place(index).slot.initialize(home: number << Place.indexBits | index)
        unsafe place(index).slot.header.pointee.word.store(ResidencyWord.retired.rawValue, ordering: .relaxed)
        unsafe place(index).links.initialize(to: .init(older: Self.none, newer: Self.none))
        if isMortal { unsafe Self.age(of: place(index).slot.base).initialize(to: Atomic(0)) }
        return index
    }

    /// Calls `body` with every slot in the table, the oldest first.
    func forEach(_ body: (Place) -> Void) {
        unsafe forEachSlot { slot in unsafe body(Place(slot: Slot(base: slot))) }
    }

    /// The same with the slots' addresses only. Where key and value are generic, what asks each slot how long it is takes as long
    /// as what is to be done with it: it is asked once.
    func forEachSlot(_ body: (UnsafeMutableRawPointer) -> Void) {
        let (stride, linksOffset) = (Place.stride, Place.linksOffset)
        var index = oldest
        while index != Self.none {
            let block = unsafe blocks.list[Int(index >> Self.blockShift)]
            let slot = unsafe block + Int(index & (1 << Self.blockShift - 1)) * stride
            unsafe body(slot)
            index = unsafe (slot + linksOffset).load(as: SlotLinks.self).newer
        }
    }

    /// Calls `body` with the slots in the table that were put there after a reading of the ``UseClock``, the newest first:
    /// what a sample of the cache would mostly miss. A slot that was restored in its place is not among them.
    func forEachNewer(than stamp: UInt32, _ body: (Place) -> Void) {
        var index = newest
        while index != Self.none {
            let place = place(index)
            let arrival = unsafe place.slot.header.pointee.arrival.load(ordering: .relaxed)
            // One that is about to be loaded has the time of its slot's last value.
            let isComing = unsafe [.loading, .retired].contains(place.slot.header.pointee.state.phase)
            guard isComing || UseClock.isReading(arrival, after: stamp) else { return }
            body(place)
            index = unsafe place.links.pointee.older
        }
    }

    /// The keys of those of the two oldest slots of which `condition` holds.
    func oldestKeys(where condition: (Slot<Value>) -> Bool) -> (Key?, Key?) {
        func key(_ index: UInt32) -> Key? {
            guard index != Self.none, condition(place(index).slot) else { return nil }
            return unsafe place(index).key.pointee
        }
        guard oldest != Self.none else { return (nil, nil) }
        return (key(oldest), key(unsafe place(oldest).links.pointee.newer))
    }

    /// Slots to a slice: some 10 µs of the lock.
    static var sliceLength: UInt32 { 256 }

    /// Calls `body` with the slots from a number on, in the table or not, up to ``sliceLength`` of them. Returns where to
    /// go on, `nil` at the end.
    func forEachInSlice(from first: UInt32, _ body: (Place) -> Void) -> UInt32? {
        unsafe forEachSlotInSlice(from: first) { slot in unsafe body(Place(slot: Slot(base: slot))) }
    }

    /// The same with the slots' addresses only.
    func forEachSlotInSlice(from first: UInt32, _ body: (UnsafeMutableRawPointer) -> Void) -> UInt32? {
        let (end, stride) = (min(unused, first + Self.sliceLength), Place.stride)
        guard first < end else { return nil }
        for index in first..<end {
            let block = unsafe blocks.list[Int(index >> Self.blockShift)]
            let slot = unsafe block + Int(index & (1 << Self.blockShift - 1)) * stride
            unsafe pk_prefetch(slot + 8 * stride)
            unsafe body(slot)
        }
        return end < unused ? end : nil
    }

    /// Frees everything. Nobody holds a slot any more.
    func deallocate() {
        forEach { unsafe $0.key.deinitialize(count: 1) }
        for index in 0..<unused { place(index).slot.destroy() }
        blocks.deallocate()
        table.deallocate()
    }

    // MARK: SIEVE

    /// The next value to leave, by SIEVE (Zhang et al., NSDI'24): from the oldest on, what was used since the hand came by
    /// last is passed over once, and a hit moves nothing. `nil` when one round finds nothing that may leave: another shard
    /// may have something that was not used, and what was passed over here has had its chance.
    mutating func nextVictim() -> Place? {
        var steps = table.count
        while steps > 0 {
            if hand == Self.none { hand = oldest }
            guard hand != Self.none else { return nil }
            let place = place(hand)
            hand = unsafe place.links.pointee.newer
            steps -= 1
            let word = unsafe place.slot.header.pointee.state
            guard word.isResident, word.seemsIdle else { continue }
            if unsafe place.slot.header.pointee.apply({ $0.clearingVisit() }) == nil { return place }
        }
        return nil
    }
}
