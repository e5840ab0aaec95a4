import Synchronization

extension CacheEntry {
    /// Lists the value of one slot, if it is in memory.
    func list(
        _ slot: UnsafeMutableRawPointer,
        in storage: PlanStorage,
        canSpill: Bool,
        isVisible: Bool,
        depth: UInt16
    ) {
        var word = unsafe header(slot).pointee.state
        let region = storage.isLocated && word.phase == .resident ? unsafe region(of: slot) : 0
        if storage.isNarrowed, !storage.regions.has(region) { return }
        let footprint = unsafe header(slot).pointee.footprint.load(ordering: .relaxed)
        switch word.phase {
        case .unloaded, .spilled:
            var uses = unsafe header(slot).pointee.uses
            if storage.lookAway(&uses) { unsafe header(slot).pointee.remember(uses) }
            return unsafe wasSpared(slot, hits: word.hits / 2)
        case .retired: return
        case .loading, .restoring, .mutating, .releasing:
            return storage.skip(self, .busy, footprint: footprint)
        case .resident: break
        }
        guard footprint > 0 else { return }
        guard word.pins == 0 else { return storage.skip(self, .pinned, footprint: footprint) }
        guard !word.isCopying else { return storage.skip(self, .busy, footprint: footprint) }
        let ended = unsafe wayOutOfEnded(slot, &word)
        // Nobody waits for its return.
        let isOver = ended != nil
        let arrival = unsafe header(slot).pointee.arrival.load(ordering: .relaxed)
        let plainBytes = unsafe plainByteCount(slot)
        let restoreCost = isOver ? 0 : statistics.restoreCost(byteCount: plainBytes)
        let canDrop = word.isReloadable && !word.isClean
        let compression = storage.compression.forValue(of: plainBytes)
        // What a server may give up and nobody makes again is better off compressed in memory.
        let isSafe = storage.keepsEverything || word.isReloadable || compression == .none
        let canSpill = canSpill && isSafe
        let goesWithoutCopy = storage.pace == .hasty && canDrop
        let freely =
            goesWithoutCopy
            ? .drop
            : unsafe wayOut(slot, word, canSpill: canSpill, compression: compression)
        let agreement = traits.current
        let method =
            ended ?? agreement.method(for: word, canSpill: canSpill, compression: compression, freely: freely)
        guard let method else {
            return storage.skip(self, noteRefusal(), footprint: footprint)
        }
        guard canSpill || method != .spill else {
            return storage.skip(self, .spillSuspended, footprint: footprint)
        }
        let uses = unsafe look(slot, word, arrival: arrival, in: storage)
        var candidate = Candidate(
            footprint: footprint,
            stamp: word.stamp,
            method: method,
            isVisible: isVisible,
            depth: depth,
            arrival: arrival,
            hits: isOver ? 0 : word.hits,
            hasRefaulted: word.isMarkedEvicted && !isOver,
            level: isOver ? 0 : uses.level,
            restoreCost: restoreCost,
            reloadCost: isOver ? 0 : statistics.reloadCost,
            writeCost: method.needsCopy && storage.pace != .steady ? statistics.writeCost(byteCount: plainBytes) : 0,
            isUrgent: storage.pace != .steady,
            region: region
        )
        guard storage.takes(&candidate) else { return }
        unsafe storage.append(candidate, isBound: method.needsCopy && !canDrop, entry: self, slot: slot)
    }

    /// How a value that was listed can leave at once: it has a copy by now, or can be made again and may be; `nil` when it stays.
    func wayOutAtOnce(_ slot: UnsafeMutableRawPointer) -> Candidate.Method? {
        let word = unsafe header(slot).pointee.state
        guard word.phase == .resident, word.pins == 0, !word.isCopying, word.isClean || word.isReloadable else {
            return nil
        }
        let freely = word.isClean ? Candidate.Method.release : .drop
        let method = traits.current.method(for: word, canSpill: false, compression: .none, freely: freely)
        return method.flatMap { $0.needsCopy ? nil : $0 }
    }

    /// Takes the hits since the last look into the record of the value's uses, for an order that learns from them.
    private func look(
        _ slot: UnsafeMutableRawPointer,
        _ word: ResidencyWord,
        arrival: UInt32,
        in storage: PlanStorage
    ) -> UseRecord {
        let before = unsafe header(slot).pointee.uses
        var uses = before
        guard storage.look(&uses, stamp: word.stamp, arrival: arrival, hits: word.hits), uses != before else {
            return uses
        }
        unsafe header(slot).pointee.remember(uses)
        if word.hits > 0 { unsafe _ = header(slot).pointee.apply { $0.forgettingHits() } }
        return uses
    }
}
