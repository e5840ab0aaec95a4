import Synchronization

/// What a reclaim asks of the tree. Nothing here allocates, in a debug build either: there an array's iterator allocates
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
            for index in 0..<state.entries.endIndex {
                state.entries[index]?.list(in: storage, canSpill: canSpill, isVisible: isVisible, depth: depth)
            }
            let below = depth == .max ? .max : depth + 1
            // Parents are locked before children, everywhere.
            for index in 0..<state.children.endIndex {
                state.children[index]?.collect(into: storage, canSpill: canSpill, depth: below, isCovered: isCovered)
            }
            state.presented?.collect(into: storage, canSpill: canSpill, depth: below)
        }
    }
}
