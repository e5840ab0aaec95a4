public import Synchronization

/// Reads by key within one call. One that finds its value takes no lock.
extension KeyedEntry {
    /// Begins to read the value, making it first if need be. Blocks while it is being made.
    ///
    /// - Throws: the loader's own error, or ``PressureError``.
    @inlinable
    func read(_ key: Key) throws -> ReadAccess<Value> {
        if let reading = readIfResident(key) { return reading }
        return ReadAccess(slot: try acquireSlowly(key))
    }

    /// Begins to read the value if it is in memory and nobody is at work on it. Waits for nothing but a shard's lock.
    @inlinable
    func readIfResident(_ key: Key) -> ReadAccess<Value>? {
        if !isMortal, let own = HazardRecord.own, let reading = find(key, own) {
            hitCounts.add(by: own.number)
            return reading
        }
        return lockToRead(key)
    }

    /// The same under the lock: for what was just being moved, and for a thread's first read.
    @inlinable
    func lockToRead(_ key: Key) -> ReadAccess<Value>? {
        guard let slot = acquireIfResident(key) else { return nil }
        if !isMortal, HazardRecord.draws() { bias(slot) }
        return ReadAccess(slot: slot)
    }

    /// Finds the value without the lock: in cells that may be changing, of which a hazard pointer keeps the memory; then the
    /// pointer is the slot's, which is looked at again, and has its key for as long as it is held.
    @inlinable
    func find(_ key: Key, _ own: HazardRecord) -> ReadAccess<Value>? {
        let hash = hash(key)
        let front = shards.front(of: hash)
        let cells = unsafe front.cells.pointee.load(ordering: .acquiring)
        guard own.publish(cells) else { return nil }
        // Again, now that it is published: if they are still the shard's cells, they stay.
        guard unsafe front.cells.pointee.load(ordering: .acquiring) == cells,
            let base = unsafe UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: cells),
            let index = unsafe KeyCells(base: base).find(hash, where: { _ in true }),
            let list = unsafe SlotBlocks.List(bitPattern: front.blocks.pointee.load(ordering: .acquiring))
        else {
            _ = own.withdraw(cells)
            return nil
        }
        let place = unsafe Shard.place(index, in: list)
        guard let reading = read(place.slot, publishedBy: own, inPlaceOf: cells) else { return nil }
        // Held, so that it keeps its key. Another one's, if two keys have one hash or the slot has changed hands.
        if unsafe place.key.pointee == key { return reading }
        end(reading)
        return nil
    }
}
