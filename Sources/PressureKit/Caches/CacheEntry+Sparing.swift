import Synchronization

/// Values that a relief has looked at and left alone.
extension CacheEntry {
    /// A relief has spared the value, of whose uses `hits` are to be remembered.
    func wasSpared(_ slot: UnsafeMutableRawPointer, hits: UInt8) {
        let word = unsafe header(slot).pointee.state
        // A slot that was replaced, or is spare, remembers nothing.
        guard word.phase != .retired, word.spared(hits: hits) != word else { return }
        unsafe _ = header(slot).pointee.apply { $0.spared(hits: hits) }
    }
}
