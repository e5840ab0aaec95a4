import Synchronization

/// What a reclaim asks of the tree. Nothing here allocates, in a debug build either: there an array's iterator allocates
/// for every element, and its subscript does not.
extension PressureController: CandidateSource {
    func collectOwners(in storage: PlanStorage) {
        Self.hierarchy.withLock { _ in collectOwners(in: storage, depth: 0, isCovered: false) }
    }

    /// Collects those of this controller and all below it. Under ``hierarchy``.
    private func collectOwners(in storage: PlanStorage, depth: UInt16, isCovered: Bool) {
        state.withLock { state in
            let isCovered = isCovered || state.presented != nil
            let isVisible = state.isVisible && !isCovered
            for index in 0..<state.entries.endIndex {
                if let entry = state.entries[index] { storage.add(entry, isVisible: isVisible, depth: depth) }
            }
            let below = depth == .max ? .max : depth + 1
            // Parents are locked before children, everywhere.
            for index in 0..<state.children.endIndex {
                state.children[index]?.collectOwners(in: storage, depth: below, isCovered: isCovered)
            }
            state.presented?.collectOwners(in: storage, depth: below, isCovered: false)
        }
    }
}
