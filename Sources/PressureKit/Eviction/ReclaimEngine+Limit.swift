import SpillStore

/// How a cache keeps to its own limit: copies that are written on the thread of whoever brought too much, outside any reclaim.
extension ReclaimEngine {
    /// Writes one value's copy, unless writing is not to be tried. Blocks; allocates. Returns whether the value has a copy now.
    func spill(_ entry: CacheEntry, _ slot: UnsafeMutableRawPointer) -> Bool {
        guard let target, unsafe entry.beginCopy(slot, in: target.file) else { return false }
        let result = withEncoder { encoder in
            let chunks = unsafe max(1, SegmentFile.chunkCount(forByteCount: entry.plainByteCount(slot)))
            return unsafe target.copier.copy(0..<chunks, of: entry, slot, with: encoder, for: .reclaim)
        }
        guard let result else {
            unsafe entry.finishCopy(slot, succeeded: false)
            return false
        }
        unsafe entry.finishCopy(slot, succeeded: result.failure == nil, isProvisional: result.isProvisional)
        target.note(result.failure)
        tell(result.failure.map { [ResourceFailure(entry, $0, server: target.server)] } ?? [], count: 1)
        return result.failure == nil
    }

    /// As many threads may be here as the app has; each takes what its values need. `nil` where there is no memory for it.
    func withEncoder<Result>(_ body: (ChunkEncoder) -> Result) -> Result? {
        let spare = encoders.withLock { $0.popLast() }
        guard let encoder = spare ?? (try? ChunkEncoder(clock: clock, isTouched: false)) else { return nil }
        defer { encoders.withLock { if $0.count < Self.keptEncoders { $0.append(encoder) } } }
        return body(encoder)
    }

    private static let keptEncoders = 2

    /// Tells of what could not be written, so many in all, and of write-back.
    func tell(_ failures: [ResourceFailure], count: Int) {
        if !failures.isEmpty { onFailure?(.notSpilled(failures, count: count)) }
        lookAtWriteback()
    }
}
