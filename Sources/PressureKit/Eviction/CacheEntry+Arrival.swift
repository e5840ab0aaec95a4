import Synchronization

/// Values on their way back: when they came, and whether too soon.
extension CacheEntry {
    /// For how many ticks of the ``UseClock`` after its eviction a value's return is a refault: as long as the reclaim
    /// that took it had expected to do without it.
    var refaultHorizon: UInt32 { statistics.horizon.load(ordering: .relaxed) }

    /// A value that had been evicted is back, `word` having been its state: what that takes, on average, is what more memory
    /// would have saved.
    func noteReturn(_ slot: UnsafeMutableRawPointer, _ word: ResidencyWord) {
        let isRead = word.residency == .restoring
        let cost = isRead ? unsafe statistics.restoreCost(byteCount: plainByteCount(slot)) : statistics.reloadCost
        if cost.isFinite { noteInBooks(awaited: Int(cost)) }
    }

    /// A value is in memory, `word` being its state. Every load, restore and change ends here.
    func didArrive(in slot: UnsafeMutableRawPointer, _ word: ResidencyWord) {
        unsafe header(slot).pointee.arrival.store(word.stamp, ordering: .relaxed)
        unsafe header(slot).pointee.remember(header(slot).pointee.uses.arrived)
        if word.isMarkedEvicted { statistics.refaults.wrappingAdd(1, ordering: .relaxed) }
    }

    /// A reclaim has spared the value.
    func wasSpared(_ slot: UnsafeMutableRawPointer, hits: UInt8) {
        let word = unsafe header(slot).pointee.state
        // A slot that was replaced, or is spare, remembers nothing.
        guard word.phase != .retired, word.spared(hits: hits) != word else { return }
        unsafe _ = header(slot).pointee.apply { $0.spared(hits: hits) }
    }
}
