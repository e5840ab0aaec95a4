import Synchronization

/// Values by key that end, and that are loaded anew before.
extension KeyedEntry {
    /// Before a read: takes a value away that has ended, notes the read of one that has not, and has one that is due
    /// loaded anew.
    @usableFromInline
    func attend(to key: Key) {
        guard let lifetimes else { return }
        let now = lifetimes.now(host)
        let hash = hash(key)
        let found = unsafe shards.shard(of: hash).pointee.withLock { shard -> (Slot<Value>, UInt32, Lifetime.Stage)? in
            guard let index = shard.index(of: key, hash) else { return nil }
            let slot = shard.place(index).slot
            return unsafe (slot, slot.header.pointee.arrival.load(ordering: .relaxed), noteRead(slot.base, at: now))
        }
        switch found {
        case (_, _, .fresh)?: return
        case (let slot, let arrival, .due)?: return refresh(key, slot, since: arrival, at: now)
        case (_, _, .over)?: exchange(key, for: nil, nil) { unsafe self.isOver($0.base, at: now) }
        case nil: break
        }
        // A value is about to come.
        sweep(hash)
    }

    /// Takes away what has ended among the two values of a shard that came first. Called for each that comes, so that what
    /// ends goes about as fast, asked for or not.
    func sweep(_ hash: UInt32) {
        guard let lifetimes else { return }
        let now = lifetimes.now(host)
        let ended = unsafe shards.shard(of: hash).pointee.withLock {
            $0.oldestKeys { unsafe self.isOver($0.base, at: now) }
        }
        for key in [ended.0, ended.1].compactMap(\.self) {
            exchange(key, for: nil, nil) { unsafe self.isOver($0.base, at: now) }
        }
    }

    private func refresh(_ key: Key, _ slot: Slot<Value>, since arrival: UInt32, at now: UInt32) {
        let refresher: Refresher
        if let loader {
            refresher = .blocking { try loader(key) }
        } else if let suspendingLoader {
            refresher = .suspending { Loaded(value: try await suspendingLoader(key)) }
        } else {
            return
        }
        refresh(slot, at: now, refresher) { [self] value, size in
            exchange(key, for: value, size, isReloadable: true) { present in
                // Set, changed, or invalidated and loaded again, in the same slot even: this one is out of date.
                unsafe present.base == slot.base && slot.header.pointee.state.isReloadable
                    && slot.header.pointee.arrival.load(ordering: .relaxed) == arrival
            }
        }
    }
}
