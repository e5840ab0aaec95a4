import Synchronization

/// Keeping to the limits of bytes and values in memory.
extension KeyedEntry {
    /// Evicts, by SIEVE, until the cache keeps to its limit or nothing more may leave. On the thread of whoever brought
    /// the value that was too much: who fills the cache makes the room. May block on the disk.
    func enforceLimit() {
        defer { keepBudgets() }
        /// Shards in a row that gave nothing: after two rounds over all of them every value has been passed over once.
        var fruitless = 0
        while isAboveLimit, fruitless < 2 * KeyedShards<Key, Value>.count {
            let turn = nextShard.wrappingAdd(1, ordering: .relaxed).newValue
            let number = turn & (KeyedShards<Key, Value>.count - 1)
            let victim = unsafe shards[number].pointee.withLock { $0.nextVictim() }
            // What came in is likely to be followed by more of its size.
            let hasLeft = WarmPages.trading { victim.map { evict($0.slot) } ?? false }
            fruitless = hasLeft ? 0 : fruitless + 1
        }
    }

    /// Evicts one value in the cheaper way that loses nothing.
    private func evict(_ slot: Slot<Value>) -> Bool {
        var word = unsafe slot.header.pointee.state
        let engine = host?.engine
        let canSpill = engine?.canSpill ?? false
        let ended = unsafe wayOutOfEnded(slot.base, &word)
        let freely = unsafe wayOut(slot.base, word, canSpill: canSpill)
        let method = traits.current.method(for: word, canSpill: canSpill, compression: .none, freely: freely)
        switch ended ?? method {
        case nil: return false
        case .release: break
        case .drop: return unsafe release(slot.base, dropping: true) != nil
        case .spill, .compress:
            guard let engine, unsafe engine.spill(self, slot.base) else { return false }
        }
        return unsafe release(slot.base, dropping: false) != nil
    }
}
