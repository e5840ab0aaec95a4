import Synchronization

/// Changing a value that need not be there.
extension KeyedEntry {
    /// Changes the value for a key, or one that `makeValue` makes when there is none. Blocks while it is restored.
    func update<Result>(
        _ key: Key,
        default makeValue: () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) throws -> Result {
        while true {
            if let slot = try acquireKept(key) {
                let changed = change(key, slot, body)
                enforceLimit()
                guard let changed else { continue }
                waitForRoom(after: changed.growth)
                return try changed.result.get()
            }
            // With nothing held: both may use the cache.
            var value = try makeValue()
            let result = try body(&value)
            let size = ValueSize(value)
            guard insert(value, size, for: key) else { continue }
            enforceLimit()
            waitForRoom(after: size.footprint)
            return result
        }
    }

    /// The same for a cache whose loader suspends: suspends where that one blocks, but not while `body` runs.
    func updateSuspending<Result>(
        _ key: Key,
        default makeValue: () throws -> Value,
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        while true {
            if let slot = try await acquireKept(key) {
                let changed = change(key, slot, body)
                await makeRoom()
                guard let changed else { continue }
                await waitForRoom(after: changed.growth)
                return try changed.result.get()
            }
            var value = try makeValue()
            let result = try body(&value)
            let size = ValueSize(value)
            guard insert(value, size, for: key) else { continue }
            await makeRoom()
            await waitForRoom(after: size.footprint)
            return result
        }
    }

    /// What came of putting a value where there was none.
    private enum Insertion {
        case done
        /// The slot was the key's, without a value, and is the writer's now.
        case owned(Slot<Value>)
        /// A load was under way; who waits for it is to look again.
        case fresh(old: Slot<Value>, before: ResidencyWord)
        /// There is a value, or was a moment ago.
        case refused
    }

    /// Puts a value in for a key that has none. Does not wait for a load, whose readers get this value.
    ///
    /// - Returns: whether the key had none.
    private func insert(_ value: consuming Value, _ size: ValueSize, for key: Key) -> Bool {
        let hash = hash(key)
        var value = Optional(value)
        let insertion: Insertion = withShard(of: hash) { shard in
            guard let index = shard.index(of: key, hash) else {
                if let given = value.take() { put(given, size, in: shard.insert(key, hash).slot) }
                return .done
            }
            let slot = shard.place(index).slot
            let owned = unsafe slot.header.pointee.apply { $0.phase == .unloaded ? $0.beginningMutation() : nil }
            if owned != nil { return .owned(slot) }
            let retired = unsafe slot.header.pointee.apply { $0.phase == .loading ? $0.retiring() : nil }
            guard let retired else { return .refused }
            if let given = value.take() { put(given, size, in: shard.replace(index, hash).slot) }
            return .fresh(old: slot, before: retired.before)
        }
        switch insertion {
        case .done: break
        case .owned(let slot): _ = replace(in: slot, hadValue: false, with: value.take(), size)
        // Its maker holds it, and empties it.
        case .fresh(let old, let before): unsafe wake(old.base, after: before)
        case .refused: return false
        }
        return true
    }
}
