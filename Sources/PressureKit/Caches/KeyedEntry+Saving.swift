import Glibc
import PressureSystem
import SpillStore
import Synchronization

/// Saving values by key, and being given some that were saved.
extension KeyedEntry {
    /// Writes all values whose keys can be written; `nil` when none can. Blocks, for a moment at each of them.
    func savedValues(to writer: StateFrames) throws -> [StateManifest.Value]? {
        guard Key.self is any LosslessStringConvertible.Type else { return nil }
        var values: [StateManifest.Value] = []
        for key in keys {
            guard let name = (key as? any LosslessStringConvertible)?.description else { continue }
            guard var value = try saved(key, to: writer) else { continue }
            value.key = name
            values.append(value)
        }
        return values
    }

    /// Writes one value: in memory it is pinned meanwhile; spilled, it is restored first, since its slot may be another
    /// key's at any moment that nobody holds it.
    private func saved(_ key: Key, to writer: StateFrames) throws -> StateManifest.Value? {
        guard residency(of: key) != .unloaded else { return nil }
        let slot: Slot<Value>
        do {
            // No save waits for a loader.
            guard let found = try acquireKept(key) else { return nil }
            slot = found
        } catch {
            // It has gone meanwhile, or cannot be restored; its own readers learn of it too.
            writer.leaveOut(.restoreFailed(error, path: path))
            return nil
        }
        defer { release(slot) }
        return try savedPinned(slot, to: writer)
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
