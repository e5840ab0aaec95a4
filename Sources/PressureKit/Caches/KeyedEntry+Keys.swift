import Synchronization

/// Which keys there are.
extension KeyedEntry {
    /// The keys that have a value. A key whose value stays while its shard is looked at is in it, once.
    var keys: [Key] {
        var keys: [Key] = []
        keys.reserveCapacity(count)
        for number in 0..<KeyedShards<Key, Value>.count {
            unsafe shards[number].pointee.withLock { shard in
                shard.forEach { place in
                    // Under the lock: a key in the table is there.
                    if unsafe hasValue(place.slot.base) { unsafe keys.append(place.key.pointee) }
                }
            }
        }
        return keys
    }

    /// Whether a key has a value.
    func contains(_ key: Key) -> Bool {
        let hash = hash(key)
        return unsafe shards.shard(of: hash).pointee.withLock { shard in
            guard let index = shard.index(of: key, hash) else { return false }
            return unsafe hasValue(shard.place(index).slot.base)
        }
    }

    /// Takes away the value of every key there is when its shard's turn comes, and has who waits for a load look again.
    func removeAll() {
        for number in 0..<KeyedShards<Key, Value>.count {
            var keys: [Key] = []
            unsafe shards[number].pointee.withLock { shard in
                keys.reserveCapacity(shard.table.count)
                shard.forEach { unsafe keys.append($0.key.pointee) }
            }
            // One at a time, with nothing locked: letting go of a value runs code of the app.
            for key in keys { exchange(key, for: nil, nil) }
        }
    }
}
