/// Going through a tree.
extension PressureController {
    /// Passes every cache below here to `body`, parents' before children's. Under ``hierarchy``; allocates nothing.
    func forEachEntry(_ body: (CacheEntry) -> Void) {
        state.withLock { state in
            // By index: in a debug build an array's iterator allocates.
            for index in 0..<state.entries.endIndex {
                if let entry = state.entries[index] { body(entry) }
            }
            for index in 0..<state.children.endIndex { state.children[index]?.forEachEntry(body) }
            state.presented?.forEachEntry(body)
        }
    }
}
