import PressureSystem
import Synchronization

/// Full values in place of lighter ones.
extension LazyEntry {
    /// Loads the full value while readers have the lighter one, and puts it in that one's place. A lighter value out of
    /// memory is only discarded: the next access loads the full one. Blocks.
    ///
    /// - Throws: what the loader throws, or `recursiveAccess`.
    func exchangeAlternate() throws {
        while try !exchange(slot) {}
    }

    /// Whether there is nothing more to do; not if another value has come in meanwhile.
    private func exchange(_ old: Slot<Value>) throws -> Bool {
        let word = unsafe old.header.pointee.state
        let arrival = unsafe old.header.pointee.arrival.load(ordering: .relaxed)
        guard let loader, word.isReloadable, variant == .alternate else { return true }
        // Nobody waits for this load, and readers have the lighter value, this loader too.
        let load = Load(Load.Identity(slot: old.address | 1, arrival: arrival), name: unsafe naming(old.base))
        let value = word.isResident ? try load.run(loader) : nil
        // Memory is short again: what there is now is right.
        if traits.alternate.load()?.takeMade() ?? false { return true }
        let size = value.map { ValueSize($0) }
        try beginWriting()
        return exchange(old, since: arrival, for: value, size)
    }

    /// The same with a loader that suspends.
    func exchangeAlternate(_ loader: SuspendingLoader<Value>) async throws {
        while true {
            let old = slot
            let word = unsafe old.header.pointee.state
            let arrival = unsafe old.header.pointee.arrival.load(ordering: .relaxed)
            guard word.isReloadable, variant == .alternate else { return }
            let loaded = word.isResident ? try await loader() : nil
            if loaded?.variant == .alternate { return }
            var size: ValueSize?
            if let loaded { size = await measure(loaded.value) }
            try await beginWritingSuspending()
            if exchange(old, since: arrival, for: loaded?.value, size) { return }
        }
    }

    /// Puts the full value, or none, in place of the lighter one, and ends this thread's turn; `false` when there is
    /// another one than there was.
    func exchange(
        _ old: Slot<Value>,
        since arrival: UInt32,
        for value: consuming Value?,
        _ size: ValueSize?
    ) -> Bool {
        var left = Left()
        defer {
            endWriting()
            letGo(left)
        }
        // Changed, replaced, or invalidated and loaded again, in the same slot even: this one is out of date.
        guard unsafe slot.base == old.base, unsafe old.header.pointee.state.isReloadable,
            unsafe old.header.pointee.arrival.load(ordering: .relaxed) == arrival
        else { return false }
        guard size != nil else {
            left.value = discard(old)
            return true
        }
        left.slot = put(value, size, inPlaceOf: old, isReloadable: true)
        return true
    }

    private func discard(_ slot: Slot<Value>) -> Value? {
        unsafe revokeBias(slot.base)
        // If somebody is at work on it, it is left to them.
        guard let step = unsafe slot.header.pointee.apply({ $0.beginningMutation() }) else { return nil }
        return replace(in: slot, hadValue: step.before.isResident, with: nil, nil)
    }
}
