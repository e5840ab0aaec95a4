import Glibc
import PressureSystem
import Synchronization

/// The engine room of ``KeyedCache``: values by key, in shards with a lock each.
@safe @usableFromInline
final class KeyedEntry<Key: Hashable & Sendable, Value: Spillable>: ValueEntry<Value>, @unchecked Sendable {
    // Sendable: as its superclass; shards are behind their locks.

    @usableFromInline typealias Shard = KeyedShard<Key, Value>

    @usableFromInline let shards: KeyedShards<Key, Value>
    @usableFromInline let hitCounts = HitCounts()
    let loader: (@Sendable (Key) throws -> Value)?
    /// In its place, one that suspends: then nobody who blocks may ask for a value.
    let suspendingLoader: (@Sendable (Key) async throws -> Value)?
    private let dropsWhatWasSet: Bool
    /// The bytes of values in memory that the cache keeps to.
    let limit: Atomic<Int>
    /// The number of values in memory that the cache keeps to.
    let countLimit: Atomic<Int>
    /// The bytes of the values in memory.
    let residentBytes = Atomic<Int>(0)
    /// How many values are in memory.
    let residentCount = Atomic<Int>(0)
    /// What of them is being written, to leave for the limit's sake.
    let leavingBytes = Atomic<Int>(0)
    let leavingCount = Atomic<Int>(0)
    /// Which shard is listed first: the one that had no room in the last plan.
    private let firstListed = Atomic<Int>(0)
    /// Dropped keys that were forgotten before they came back, until the next plan.
    private let ends = Lock(UseTable())
    /// Which shard gives up a value next.
    let nextShard = Atomic<Int>(0)

    init(
        name: String,
        host: (any CacheHost)?,
        supported: Disposition = .all,
        limit: ByteCount?,
        countLimit: Int? = nil,
        lifetime: Lifetime? = nil,
        loader: (@Sendable (Key) throws -> Value)?,
        suspendingLoader: (@Sendable (Key) async throws -> Value)? = nil,
        dropsWhatWasSet: Bool = false
    ) {
        shards = KeyedShards(isMortal: lifetime != nil)
        self.loader = loader
        self.suspendingLoader = suspendingLoader
        self.limit = Atomic(limit?.bytes ?? .max)
        self.countLimit = Atomic(countLimit ?? .max)
        self.dropsWhatWasSet = dropsWhatWasSet
        super.init(
            name: name,
            hasLoader: loader != nil || suspendingLoader != nil,
            host: host,
            supported: supported,
            lifetime: lifetime
        )
    }

    deinit {
        for number in 0..<KeyedShards<Key, Value>.count {
            unsafe shards[number].pointee.withLock { shard in shard.forEach { clear($0.slot) } }
        }
        shards.deallocate()
        hitCounts.deallocate()
    }

    /// The half of a key's hash that finds its shard, by its high bits, and its cell, by its low ones.
    @inlinable
    func hash(_ key: Key) -> UInt32 { UInt32(truncatingIfNeeded: key.hashValue) }

    // MARK: Pins

    /// Pins the value if it is in memory and nobody is at work on it. Never waits for more than the shard's lock.
    @inlinable
    func acquireIfResident(_ key: Key) -> Slot<Value>? {
        if isMortal { attend(to: key) }
        let hash = hash(key)
        return unsafe shards.shard(of: hash).pointee.withLock { shard in
            guard let index = shard.index(of: key, hash) else { return nil }
            let slot = shard.place(index).slot
            // Under the lock, or the slot might be another key's by now.
            guard slot.pin() else { return nil }
            shard.hits &+= 1
            return slot
        }
    }

    /// Pins the value, making it first if need be. Blocks while it is being made.
    ///
    /// - Throws: the loader's own error, or ``PressureError``.
    func acquire(_ key: Key) throws -> Slot<Value> {
        if let slot = acquireIfResident(key) { return slot }
        return try acquireSlowly(key)
    }

    @usableFromInline
    func acquireSlowly(_ key: Key) throws -> Slot<Value> {
        let slot = try acquire(from: finding(key), loader: loader(for: key))
        enforceLimit()
        return slot
    }

    /// The same without ever blocking the calling thread.
    func acquire(_ key: Key) async throws -> Slot<Value> {
        if let slot = acquireIfResident(key) { return slot }
        return try await acquireMissing(key)
    }

    /// Pins the value if there is one, in memory or in a copy; `nil` when there is none. Runs no loader and waits for
    /// none; else blocks.
    func acquireKept(_ key: Key) throws -> Slot<Value>? {
        if let slot = acquireIfResident(key) { return slot }
        let slot = try acquireKept { begins in self.findKept(key) { self.turn($0, begins: begins) } }
        if slot != nil { enforceLimit() }
        return slot
    }

    func loader(for key: Key) -> (@Sendable () throws -> Value)? {
        guard let loader else { return nil }
        return { try loader(key) }
    }

    /// Calls `body` with the key's slot, which is made if there is none, under the shard's lock.
    func withSlot(of key: Key, _ body: (Slot<Value>) -> Void) {
        let hash = hash(key)
        withShard(of: hash) { shard in
            if let index = shard.index(of: key, hash) { return body(shard.place(index).slot) }
            let slot = shard.insert(key, hash).slot
            let scale = statistics.scale
            let ghost = shard.ghosts.take(hash, now: scale.unit(UseClock.now))
            if let ghost { unsafe slot.header.pointee.remember(ghost.uses) }
            let word = ghost.map { ResidencyWord.dropped(at: $0.stamp) } ?? .unloaded
            unsafe slot.header.pointee.word.store(word.rawValue, ordering: .releasing)
            body(slot)
        }
    }

    /// Finds the key's slot, if it has one, and takes this reader's turn there.
    func findKept<Turn>(_ key: Key, _ turn: (Slot<Value>) -> Turn) -> (slot: Slot<Value>, turn: Turn)? {
        let hash = hash(key)
        return unsafe shards.shard(of: hash).pointee.withLock { shard in
            guard let index = shard.index(of: key, hash) else { return nil }
            let slot = shard.place(index).slot
            return (slot, turn(slot))
        }
    }

    /// Runs `body` with the shard of a hash locked, and has plans make room for the slots that were added, if any were.
    func withShard<Result>(of hash: UInt32, _ body: (inout Shard) -> Result) -> Result {
        // Not a part of the result: a pair would be looked up at run time, at each miss.
        var added = 0
        let result = unsafe shards.shard(of: hash).pointee.withLock { shard in
            let before = shard.slotCount
            defer { added = shard.slotCount - before }
            return body(&shard)
        }
        if added > 0 { reserveRoom(added) }
        return result
    }

    // MARK: Slots

    override func recycle(_ slot: UnsafeMutableRawPointer) {
        let place = unsafe KeyedSlot<Key, Value>(slot: Slot(base: slot))
        // Abandoned, and out of the table since it was replaced: we are the last to touch it.
        empty(place.slot)
        let key = unsafe shards[place.shard].pointee.withLock { $0.free(place.index) }
        // Let go with nothing locked: it may be the last of it.
        withExtendedLifetime(key) {}
    }

    /// A value was dropped: its key leaves the table, so that keys that do not come back cost nothing.
    override func didDrop(_ slot: UnsafeMutableRawPointer) {
        let place = unsafe KeyedSlot<Key, Value>(slot: Slot(base: slot))
        let key = unsafe shards[place.shard].pointee.withLock { shard -> Key? in
            // Unless a reader has begun to load it again.
            guard let step = unsafe place.slot.header.pointee.apply({ $0.vacating() }) else { return nil }
            clear(place.slot)
            let hash = hash(unsafe place.key.pointee)
            if step.before.isMarkedEvicted {
                let uses = unsafe place.slot.header.pointee.uses
                let now = statistics.scale.unit(UseClock.now)
                let lost = shard.ghosts.note(hash, at: step.before.stamp, uses, now: now)
                if let lost { noteEnd(of: lost) }
            }
            shard.remove(place.index, hash)
            return shard.free(place.index)
        }
        // Let go with nothing locked: it may be the last of it.
        withExtendedLifetime(key) {}
    }

    /// A dropped key is forgotten: nobody waits for its return any longer.
    private func noteEnd(of ghost: GhostList.Ghost) {
        let scale = statistics.scale
        let age = ghost.uses.age(at: UseClock.now, scale)
        ends.withLock { $0.add(1, level: ghost.uses.level, age: age, scale) }
    }

    override func reportEnds(to table: inout UseTable) {
        ends.withLock { ends in
            table.add(ends)
            ends.clear()
        }
    }

    override func noteArrival(_ bytes: Int, values: Int) {
        super.noteArrival(bytes, values: values)
        residentBytes.wrappingAdd(bytes, ordering: .relaxed)
        if values != 0 { residentCount.wrappingAdd(values, ordering: .relaxed) }
    }

    /// Whether there is more in memory than the cache keeps to, but for what is just leaving.
    var isAboveLimit: Bool {
        residentBytes.load(ordering: .relaxed) - leavingBytes.load(ordering: .relaxed) > limit.load(ordering: .relaxed)
            || residentCount.load(ordering: .relaxed) - leavingCount.load(ordering: .relaxed)
                > countLimit.load(ordering: .relaxed)
    }

    override var setValuesAreReloadable: Bool { dropsWhatWasSet }

    override func makeRoom() async {
        guard isAboveLimit else { return await keepBudgets() }
        try? await Load.job(on: .restores) { self.enforceLimit() }
    }

    // MARK: What the engine and the manager ask

    override func save(to writer: StateFrames) throws -> StateManifest.Cache? {
        try savedValues(to: writer).map { StateManifest.Cache(name: name, type: typeName, layout: layout, values: $0) }
    }

    override func adopt(_ saved: SavedCache) throws(PressureError) -> Int? {
        try check(saved.cache)
        return adopt(saved.cache.values, in: saved.file)
    }

    override func digestedValues() throws -> [DigestedValue] { try digestedValuesByKey() }

    override var hasOneValue: Bool { false }

    /// As for other caches; but of a plan that is full it leaves whole shards, which are the first of the next one.
    override func list(in storage: PlanStorage, canSpill: Bool, isVisible: Bool, depth: UInt16) {
        // Of what is there few are wanted, and what lies in a row is gone through several times as fast as what came in a row.
        guard !storage.isNarrowed else {
            return unsafe forEachSlotInSlices { slot in
                unsafe list(slot, in: storage, canSpill: canSpill, isVisible: isVisible, depth: depth)
            }
        }
        let count = KeyedShards<Key, Value>.count
        let first = firstListed.load(ordering: .relaxed)
        for turn in 0..<count {
            let number = (first + turn) & (count - 1)
            guard storage.takes(shard: number) else {
                listNewest(number, in: storage, canSpill: canSpill, isVisible: isVisible, depth: depth)
                continue
            }
            let isLeft = unsafe shards[number].pointee.withLock { shard in
                if storage.leaves(shard.table.count) { return true }
                unsafe shard.forEachSlot { slot in
                    unsafe list(slot, in: storage, canSpill: canSpill, isVisible: isVisible, depth: depth)
                }
                return false
            }
            if isLeft { return firstListed.store(number, ordering: .relaxed) }
            storage.priority?.yield()
        }
    }

    private func listNewest(
        _ number: Int,
        in storage: PlanStorage,
        canSpill: Bool,
        isVisible: Bool,
        depth: UInt16
    ) {
        guard let stamp = storage.newest else { return }
        let before = storage.seenCount
        defer { storage.noteBeyondSample(storage.seenCount - before) }
        unsafe shards[number].pointee.withLock { shard in
            shard.forEachNewer(than: stamp) { place in
                unsafe list(place.slot.base, in: storage, canSpill: canSpill, isVisible: isVisible, depth: depth)
            }
        }
    }

    override func age(of slot: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Atomic<UInt64>> {
        unsafe Shard.age(of: slot)
    }

    override func forEachSlot(_ body: (UnsafeMutableRawPointer) -> Void) {
        for index in 0..<KeyedShards<Key, Value>.count {
            unsafe shards[index].pointee.withLock { shard in
                unsafe shard.forEachSlot(body)
            }
        }
    }

    /// By slot, not by age: slots never move, so a slice may begin where the one before ended, whatever came between.
    override func forEachSlotInSlices(_ body: (UnsafeMutableRawPointer) -> Void) {
        for number in 0..<KeyedShards<Key, Value>.count {
            var next: UInt32? = 0
            while let first = next {
                next = unsafe shards[number].pointee.withLock { shard in
                    unsafe shard.forEachSlotInSlice(from: first, body)
                }
            }
        }
    }

    override func path(of slot: UnsafeMutableRawPointer) -> String {
        // Called by a reader or the engine, who keep the slot where it is.
        unsafe "\(path)[\(KeyedSlot<Key, Value>(slot: Slot(base: slot)).key.pointee)]"
    }

    override func naming(_ slot: UnsafeMutableRawPointer) -> @Sendable () -> String {
        // Called by whoever is at work in the slot.
        let key = unsafe KeyedSlot<Key, Value>(slot: Slot(base: slot)).key.pointee
        return { [weak self] in self.map { "\($0.path)[\(key)]" } ?? "" }
    }

    /// A keyed cache does not remember what was in memory: what is wanted comes back when it is asked for.
    override var comesBack: Bool { false }

    override var residency: Residency {
        let words = words
        if words.contains(where: { $0.isResident }) { return .resident }
        if words.contains(where: { $0.residency == .compressed }) { return .compressed }
        return words.contains { $0.phase == .spilled } ? .spilled : .unloaded
    }

    override var footprint: Int { residentBytes.load(ordering: .relaxed) }

    override var residentByteCount: Int { footprint }

    override var valueCount: Int { count }

    override var pins: Int {
        let uncounted = HazardScan.uncounted
        var pins = 0
        unsafe forEachSlot { slot in
            unsafe pins += header(slot).pointee.state.pins
            if !uncounted.isEmpty { pins += uncounted.count { $0 == UInt(bitPattern: slot) } }
        }
        return pins
    }

    override var hasCopy: Bool { words.contains { $0.isClean } }

    override var stamp: UInt32 { UseClock.now }

    /// How many keys are in the table.
    var count: Int { shards.sum { $0.table.count } }

    /// The bytes of slots and tables, keys and values in place included.
    var bookkeepingByteCount: Int { shards.sum { $0.byteCount } + hitCounts.byteCount }

    /// Accesses that found their value in memory.
    var hits: Int { hitCounts.sum + shards.sum { $0.hits } }

    /// Where the value for a key is.
    func residency(of key: Key) -> Residency {
        let hash = hash(key)
        return unsafe shards.shard(of: hash).pointee.withLock { shard in
            guard let index = shard.index(of: key, hash) else { return .unloaded }
            return unsafe shard.place(index).slot.header.pointee.state.residency
        }
    }

    /// The states of all slots in the table, one shard after the other.
    var words: [ResidencyWord] {
        var words: [ResidencyWord] = []
        for number in 0..<KeyedShards<Key, Value>.count {
            unsafe shards[number].pointee.withLock { shard in
                shard.forEach { unsafe words.append($0.slot.header.pointee.state) }
            }
        }
        return words
    }
}
