import Glibc
import PressureSystem
import SpillStore
import Synchronization

/// Saving values by key, and being given some that were saved.
extension KeyedEntry {
    /// Writes all values whose keys can be written; `nil` when none can. Blocks, for a moment at each of them.
    ///
    /// What somebody else is at work on comes last: who restores it may wait for memory, and is done by then.
    func savedValues(to writer: StateFrames) throws -> [StateManifest.Value]? {
        guard Key.self is any LosslessStringConvertible.Type else { return nil }
        var values: [StateManifest.Value] = []
        var busy: [Key] = []
        for key in keys where try !save(key, to: writer, &values, waits: false) { busy.append(key) }
        for key in busy { _ = try save(key, to: writer, &values, waits: true) }
        return values
    }

    /// Writes one value, if there is one, wherever it is: a copy is taken over as it lies there, and nothing is brought
    /// into memory for a save.
    ///
    /// - Parameter waits: whether to wait for whoever is at work on it.
    /// - Returns: `false` when somebody is, and it did not.
    private func save(
        _ key: Key,
        to writer: StateFrames,
        _ values: inout [StateManifest.Value],
        waits: Bool
    ) throws -> Bool {
        guard let name = (key as? any LosslessStringConvertible)?.description else { return true }
        func add(_ value: StateManifest.Value?) {
            guard var value else { return }
            value.key = name
            values.append(value)
        }
        // Found and held in one step, or the slot might be another key's.
        while let (slot, turn) = findKept(key, { turn($0, begins: .restores) }) {
            switch turn {
            case .pinned:
                defer { release(slot) }
                add(try savedPinned(slot, to: writer))
                return true
            case .restore:
                // As a restore: nobody else touches the copy meanwhile.
                defer { endHolding(slot) }
                add(try savedCopy(slot, to: writer))
                return true
            case .wait(let arrival):
                guard waits else { return false }
                do {
                    try wait(for: slot, since: arrival)
                } catch {
                    // It cannot be restored; its own readers learn of it too.
                    writer.leaveOut(.restoreFailed(error, path: path))
                    return true
                }
            case .missing: return true
            case .load, .away: preconditionFailure("began what it was not to begin")
            case nil: sched_yield()
            }
        }
        return true
    }

    /// Puts saved values in place, out of memory. Those whose keys cannot be read are left out. Returns their bytes on disk;
    /// `nil` when no key can be read.
    func adopt(_ values: [StateManifest.Value], in file: SegmentFile) -> Int? {
        guard let type = Key.self as? any LosslessStringConvertible.Type else { return nil }
        var bytes = 0
        for value in values {
            guard let name = value.key, let key = type.init(name) as? Key else { continue }
            if adopt(value, for: key, in: file) { bytes += value.storedByteCount }
        }
        return bytes
    }

    /// Whether it is in place.
    private func adopt(_ value: StateManifest.Value, for key: Key, in file: SegmentFile) -> Bool {
        // Whatever there is for the key gives way.
        replace(key, with: nil, nil)
        let hash = hash(key)
        return withShard(of: hash) { shard in
            // Somebody was faster: what is newer stays.
            guard shard.index(of: key, hash) == nil else { return false }
            let slot = shard.insert(key, hash).slot
            unsafe slot.header.pointee.word.store(ResidencyWord.mutating.rawValue, ordering: .relaxed)
            adopt(value, in: file, slot)
            return true
        }
    }
}
