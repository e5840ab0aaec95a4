import Glibc
import Synchronization

/// Changing values. A writer waits for whoever is at work on the value at this moment, never for readers.
extension KeyedEntry {
    /// What a writer found.
    private enum Found {
        /// The slot is the writer's; its value was there or not.
        case owned(Slot<Value>, hadValue: Bool)
        /// A fresh slot is in the old one's place; the old one is to be emptied now if nobody held it.
        case fresh(old: Slot<Value>, before: ResidencyWord, after: ResidencyWord)
        /// There is no such key, and nothing to do.
        case absent
        /// The condition does not hold.
        case unwanted
        /// It was biased: whoever reads it is to be counted first.
        case biased(Slot<Value>)
        /// Somebody is at work for a few instructions.
        case busy
    }

    /// Replaces the value for a key, or with `nil` takes it away, with its copy. The value's size is measured by the
    /// caller, before anything is locked.
    func replace(_ key: Key, with value: consuming Value?, _ size: ValueSize?) {
        exchange(key, for: value, size)
        sweep(hash(key))
        enforceLimit()
    }

    /// The same without blocking the calling thread for the limit.
    func replaceSuspending(_ key: Key, with value: consuming Value?, _ size: ValueSize?) async {
        exchange(key, for: value, size)
        sweep(hash(key))
        await makeRoom()
    }

    /// The same whatever the limit is: for what makes the cache no fuller. Only where `condition` holds of the key's slot,
    /// if one is given, and of none where there is none. Returns whether it did.
    @discardableResult
    func exchange(
        _ key: Key,
        for value: consuming Value?,
        _ size: ValueSize?,
        isReloadable: Bool = false,
        if condition: ((Slot<Value>) -> Bool)? = nil
    ) -> Bool {
        let hash = hash(key)
        var value = value
        let isRemoval = value == nil
        while true {
            let found: Found = withShard(of: hash) { shard in
                guard let index = shard.index(of: key, hash) else {
                    guard condition == nil else { return .unwanted }
                    guard let given = value.take() else { return .absent }
                    put(given, size, in: shard.insert(key, hash).slot)
                    return .absent
                }
                let slot = shard.place(index).slot
                guard condition?(slot) ?? true else { return .unwanted }
                if unsafe slot.header.pointee.apply({ $0.revokingBias() }) != nil { return .biased(slot) }
                if let step = unsafe slot.header.pointee.apply({ $0.beginningMutation() }) {
                    return .owned(slot, hadValue: step.before.isResident)
                }
                guard let step = unsafe slot.header.pointee.apply({ $0.retiring() }) else {
                    let isOurs = unsafe slot.header.pointee.maker.load(ordering: .relaxed) == .currentThread
                    // It would wait for itself, for ever.
                    precondition(!isOurs, Self.setInsideUpdate)
                    return .busy
                }
                // What is there is in use or being made: those who hold it keep it.
                if let given = value.take() {
                    put(given, size, in: shard.replace(index, hash).slot, isReloadable: isReloadable)
                } else {
                    shard.remove(index, hash)
                }
                return .fresh(old: slot, before: step.before, after: step.after)
            }
            switch found {
            case .absent: break
            case .unwanted: return false
            case .biased(let slot):
                unsafe countReaders(of: slot.base)
                continue
            case .busy:
                sched_yield()
                continue
            case .fresh(let old, let before, let after):
                unsafe wake(old.base, after: before)
                // By the word this step made: if it was not abandoned then, the last reader empties it.
                if after.isAbandoned { unsafe recycle(old.base) }
            case .owned(let slot, let hadValue):
                let old = replace(in: slot, hadValue: hadValue, with: value.take(), size, isReloadable: isReloadable)
                withExtendedLifetime(old) {}
                if isRemoval { unsafe didDrop(slot.base) }
            }
            return true
        }
    }

    private static var setInsideUpdate: String {
        "set(_:for:) or invalidate(for:) was called from inside update(for:_:) of the same key; change the value passed there."
    }

    /// Fills a slot that nobody has found yet, since its shard is locked.
    func put(_ value: consuming Value, _ size: ValueSize?, in slot: Slot<Value>, isReloadable: Bool = false) {
        fill(slot, with: value, size)
        finishMutation(slot, hasValue: true, isReloadable: isReloadable)
    }

    /// Changes the value for a key, loading or restoring it first. `body` runs again if the value is replaced by someone
    /// else while a copy of it is being changed.
    func update<Result>(_ key: Key, _ body: (inout Value) throws -> Result) throws -> Result {
        while true {
            let slot = try acquire(key)
            let changed = change(key, slot, body)
            enforceLimit()
            guard let changed else { continue }
            waitForRoom(after: changed.growth)
            return try changed.result.get()
        }
    }

    /// The same for a cache whose loader suspends: suspends where that one blocks, but not while `body` runs.
    func updateSuspending<Result>(_ key: Key, _ body: (inout Value) throws -> Result) async throws -> Result {
        while true {
            let slot = try await acquire(key)
            let changed = change(key, slot, body)
            await makeRoom()
            guard let changed else { continue }
            await waitForRoom(after: changed.growth)
            return try changed.result.get()
        }
    }

    /// Changes a value that this thread has pinned, and ends that; `nil` when another value has taken its place. The growth is
    /// the bytes that the change has brought: all of a copy, since who reads the old value keeps it.
    func change<Result>(
        _ key: Key,
        _ slot: Slot<Value>,
        _ body: (inout Value) throws -> Result
    ) -> (result: Swift.Result<Result, any Error>, growth: Int)? {
        unsafe revokeBias(slot.base)
        if unsafe slot.header.pointee.apply({ $0.upgrading() }) != nil { return updateInPlace(slot, body) }
        // It may be the last that held a slot which was replaced.
        defer { release(slot) }
        var value = unsafe slot.value.pointee
        let result = Swift.Result { try body(&value) }
        // What was changed before it failed was a copy.
        if case .failure = result { return (result, 0) }
        let size = ValueSize(value)
        let hash = hash(key)
        while true {
            let isDone: Bool? = withShard(of: hash) { shard in
                guard let index = shard.index(of: key, hash), unsafe shard.place(index).slot.base == slot.base else {
                    return false
                }
                guard unsafe slot.header.pointee.apply({ $0.retiring() }) != nil else {
                    return unsafe slot.header.pointee.state.isBiased ? nil : false
                }
                put(value, size, in: shard.replace(index, hash).slot)
                return true
            }
            if let isDone { return isDone ? (result, size.footprint) : nil }
            unsafe revokeBias(slot.base)
        }
    }
}
