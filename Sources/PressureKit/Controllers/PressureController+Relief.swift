import Synchronization

/// What a relief asks of the tree. Nothing here allocates, in a debug build either: there an array's iterator allocates
/// for every element, and its subscript does not.
extension PressureController: CandidateSource {
    func listCandidates(in storage: PlanStorage, canSpill: Bool) {
        Self.hierarchy.withLock { _ in collect(into: storage, canSpill: canSpill, depth: 0) }
    }

    /// Lists every value below here that could leave memory, and those that cannot now. Under ``hierarchy``.
    func collect(into storage: PlanStorage, canSpill: Bool, depth: UInt16, isCovered: Bool = false) {
        state.withLock { state in
            let isCovered = isCovered || state.presented != nil
            let isVisible = state.isVisible && !isCovered
            for index in 0..<state.entries.count {
                state.entries[index].list(in: storage, canSpill: canSpill, isVisible: isVisible, depth: depth)
            }
            let below = depth == .max ? .max : depth + 1
            // Parents are locked before children, everywhere.
            for index in 0..<state.children.count {
                state.children[index].collect(into: storage, canSpill: canSpill, depth: below, isCovered: isCovered)
            }
            state.presented?.collect(into: storage, canSpill: canSpill, depth: below)
        }
    }
}

extension CacheEntry {
    /// Lists the value of one slot, if it is in memory.
    func list(
        _ slot: UnsafeMutableRawPointer,
        in storage: PlanStorage,
        canSpill: Bool,
        isVisible: Bool,
        depth: UInt16
    ) {
        let word = unsafe header(slot).pointee.state
        let footprint = unsafe header(slot).pointee.footprint.load(ordering: .relaxed)
        switch word.phase {
        case .unloaded, .spilled: return unsafe wasSpared(slot, hits: word.hits / 2)
        case .retired: return
        case .loading, .restoring, .mutating, .releasing:
            return storage.skip(self, .busy, footprint: footprint)
        case .resident: break
        }
        guard footprint > 0 else { return }
        guard word.pins == 0 else { return storage.skip(self, .pinned, footprint: footprint) }
        guard !word.isCopying else { return storage.skip(self, .busy, footprint: footprint) }
        let arrival = unsafe header(slot).pointee.arrival.load(ordering: .relaxed)
        let plainBytes = unsafe plainByteCount(slot)
        let restoreCost = statistics.restoreCost(byteCount: plainBytes)
        let freely = unsafe wayOut(slot, word, canSpill: canSpill, compression: storage.compression)
        let terms = traits.current
        let way = terms.way(for: word, canSpill: canSpill, compression: storage.compression, freely: freely)
        guard let way else {
            return storage.skip(self, noteRefusal(), footprint: footprint)
        }
        guard canSpill || way != .spill else {
            return storage.skip(self, .spillSuspended, footprint: footprint)
        }
        let candidate = Candidate(
            footprint: footprint,
            stamp: word.stamp,
            way: way,
            isVisible: isVisible,
            depth: depth,
            arrival: arrival,
            hits: word.hits,
            hasRefaulted: word.isMarkedEvicted,
            restoreCost: restoreCost,
            reloadCost: statistics.reloadCost,
            writeCost: way.needsCopy ? statistics.writeCost(byteCount: plainBytes) : 0
        )
        unsafe storage.append(candidate, entry: self, slot: slot)
    }
}
