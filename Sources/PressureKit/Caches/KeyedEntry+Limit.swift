import Synchronization

/// Keeping to the limits of bytes and values in memory.
extension KeyedEntry {
    /// Evicts, by SIEVE, until the cache keeps to its limit or nothing more may leave. On the thread of whoever brought
    /// the value that was too much: who fills the cache makes the room. May block on the disk.
    ///
    /// Small values that have to be written are written together, with some that would be the next ones. Meanwhile others who
    /// bring values need not make room for what is leaving.
    func enforceLimit() {
        defer { keepBudgets() }
        /// Shards in a row that gave nothing: after two rounds over all of them every value has been passed over once.
        var fruitless = 0
        /// Batches in a row of which nothing could be written.
        var vain = 0
        while isAboveLimit, vain < 2, fruitless < 2 * KeyedShards<Key, Value>.count {
            var batch = host?.engine?.limitBatch(of: self)
            while fruitless < 2 * KeyedShards<Key, Value>.count {
                let mustLeave = isAboveLimit
                guard mustLeave || batch.map(mayGoAhead) ?? false else { break }
                let turn = nextShard.wrappingAdd(1, ordering: .relaxed).newValue
                let number = turn & (KeyedShards<Key, Value>.count - 1)
                let victim = unsafe shards[number].pointee.withLock { $0.nextVictim() }
                // What came in is likely to be followed by more of its size.
                let hasLeft = WarmPages.trading { victim.map { evict($0.slot, &batch, mustLeave) } ?? false }
                fruitless = hasLeft ? 0 : fruitless + 1
                // Nobody has asked for what goes ahead.
                if batch?.count == LimitBatch.mostValues || !mustLeave && !hasLeft { break }
            }
            guard var batch, batch.count > 0 else { continue }
            host?.engine?.spill(&batch)
            noteLeaving(-batch.bytes, values: -batch.count)
            var hasLeft = false
            for victim in 0..<batch.count where batch.hasCopy[victim] {
                if unsafe release(batch.slot(ofVictim: victim), dropping: false) != nil { hasLeft = true }
            }
            vain = hasLeft ? 0 : vain + 1
        }
    }

    /// Whether values that would be the next ones may leave with those of a batch: up to a sixteenth of the limit.
    private func mayGoAhead(_ batch: LimitBatch) -> Bool {
        guard 1..<LimitBatch.mostValues ~= batch.count else { return false }
        let (bytes, values) = (limit.load(ordering: .relaxed), countLimit.load(ordering: .relaxed))
        return batch.bytes + batch.bytes / batch.count <= bytes / 16 && batch.count < values / 16
    }

    /// Evicts one value in the cheaper way that loses nothing, or adds it to what is to be written; whether it has left, or will.
    ///
    /// - Parameter mustLeave: Whether it is one too many. Others leave only where that saves a write.
    private func evict(_ slot: Slot<Value>, _ batch: inout LimitBatch?, _ mustLeave: Bool) -> Bool {
        var word = unsafe slot.header.pointee.state
        let engine = host?.engine
        // Writing may have failed, and been suspended, since the batch was begun.
        let canSpill = batch != nil && engine?.canSpill ?? false
        let ended = unsafe wayOutOfEnded(slot.base, &word)
        let freely = unsafe wayOut(slot.base, word, canSpill: canSpill)
        let method = traits.current.method(for: word, canSpill: canSpill, compression: .none, freely: freely)
        switch ended ?? method {
        case nil: return false
        case .release where !mustLeave, .drop where !mustLeave: return false
        case .release: break
        case .drop: return unsafe release(slot.base, dropping: true) != nil
        // What nobody can make again stays while writing is not to be tried.
        case .spill where !canSpill, .compress where !canSpill: return false
        case .spill, .compress:
            if unsafe batch?.takes(slot.base) ?? false {
                guard let bytes = unsafe batch?.add(slot.base) else { return false }
                noteLeaving(bytes, values: 1)
                return true
            }
            guard mustLeave, let engine, unsafe engine.spill(self, slot.base) else { return false }
        }
        return unsafe release(slot.base, dropping: false) != nil
    }

    /// So much is about to leave, or with negative numbers has left or stays.
    private func noteLeaving(_ bytes: Int, values: Int) {
        leavingBytes.wrappingAdd(bytes, ordering: .relaxed)
        leavingCount.wrappingAdd(values, ordering: .relaxed)
    }
}
