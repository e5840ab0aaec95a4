import Glibc
import PressureSystem
import Synchronization

/// Changing the value. A writer waits for other writers and for whoever is making the value, never for readers: if the
/// value is in use, the new one goes into a slot of its own and the readers keep what they hold.
extension LazyEntry {
    /// Replaces the value, or with `nil` takes it away, with its copy. The value's size is measured by the caller, before
    /// it is anybody's turn.
    func replace(with value: consuming Value?, _ size: ValueSize?) throws(PressureError) {
        var left = Left()
        try beginWriting()
        defer {
            endWriting()
            letGo(left)
            keepBudgets()
        }
        while true {
            let slot = slot
            if let step = unsafe slot.header.pointee.apply({ $0.beginningMutation() }) {
                left.value = replace(in: slot, hadValue: step.before.isResident, with: value, size)
                return
            }
            switch unsafe slot.header.pointee.state.phase {
            case .resident, .loading, .restoring:
                left.slot = put(value, size, inPlaceOf: slot)
                return
            case .unloaded, .mutating, .releasing, .spilled, .retired:
                sched_yield()  // An eviction's last step, a few instructions long.
            }
        }
    }

    /// Changes the value in place, or a copy of it while readers hold it. Loads or restores it first.
    func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        while true {
            // Pinned before it is this thread's turn to write: the loader and the hooks run with nothing held.
            let slot = try acquire()
            do { try beginWriting() } catch {
                release(slot)
                throw error
            }
            var isPinned = true
            defer {
                endWriting()
                // It may be the last that held a slot which was replaced.
                if isPinned { release(slot) }
                keepBudgets()
            }
            guard unsafe slot.base == self.slot.base else { continue }
            if unsafe slot.header.pointee.apply({ $0.upgrading() }) != nil {
                isPinned = false
                return try updateInPlace(slot, body)
            }
            var value = unsafe slot.value.pointee
            let result = try body(&value)
            let size = ValueSize(value)
            // Pinned by this thread, so it cannot be abandoned yet.
            _ = put(value, size, inPlaceOf: slot)
            return result
        }
    }

    // MARK: Putting another slot in place

    /// Puts a value, or none, into a slot of its own in place of one that is in use.
    ///
    /// The new slot is found first, opened last: nobody reads the new value before the old one is out of reach, so no
    /// reader sees the new one and then the old one again.
    ///
    /// - Returns: the old slot if nobody holds it any more: it is to be recycled when this thread's turn has ended.
    private func put(
        _ value: consuming Value?,
        _ size: ValueSize?,
        inPlaceOf old: Slot<Value>,
        isReloadable: Bool = false
    ) -> Slot<Value>? {
        let hasValue = value != nil
        let fresh = spareSlot()
        fill(fresh, with: value, size)
        unsafe current.store(fresh.base, ordering: .releasing)
        let step = retire(old)
        finishMutation(fresh, hasValue: hasValue, isReloadable: isReloadable)
        unsafe wake(old.base, after: step.before)
        return step.after.isAbandoned ? old : nil
    }

    /// What a writer leaves behind, to be let go when its turn has ended: that runs the app's code.
    private struct Left {
        var value: Value?
        var slot: Slot<Value>?
    }

    private func letGo(_ left: consuming Left) {
        if let slot = left.slot { unsafe recycle(slot.base) }
    }

    private func retire(_ slot: Slot<Value>) -> (before: ResidencyWord, after: ResidencyWord) {
        while true {
            if let step = unsafe slot.header.pointee.apply({ $0.retiring() }) { return step }
            sched_yield()  // An eviction's last step.
        }
    }

    // MARK: One writer at a time

    private var writerAddress: UInt { UInt(bitPattern: unsafe Unmanaged.passUnretained(self).toOpaque()) }

    /// - Throws: `recursiveAccess` when this thread is the writer already.
    private func beginWriting() throws(PressureError) {
        while true {
            let (exchanged, holder) = writer.compareExchange(
                expected: 0,
                desired: .currentThread,
                ordering: .acquiringAndReleasing
            )
            if exchanged { return }
            guard holder != .currentThread else { throw .recursiveAccess(path: path) }
            _ = ParkingLot.park(on: writerAddress) { writer.load(ordering: .acquiring) != 0 }
        }
    }

    private func endWriting() {
        writer.store(0, ordering: .releasing)
        ParkingLot.unpark(writerAddress)
    }
}

// MARK: - Alternates

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
        let value = word.isResident ? try loader() : nil
        // Memory is short again: what there is now is right.
        if traits.alternate.load()?.takeMade() ?? false { return true }
        let size = value.map { ValueSize($0) }
        var left = Left()
        try beginWriting()
        defer {
            endWriting()
            letGo(left)
        }
        // Changed, replaced, or invalidated and loaded again, in the same slot even: this one is out of date.
        guard unsafe slot.base == old.base, unsafe old.header.pointee.state.isReloadable,
            unsafe old.header.pointee.arrival.load(ordering: .relaxed) == arrival
        else { return false }
        guard value != nil else {
            left.value = discard(old)
            return true
        }
        left.slot = put(value, size, inPlaceOf: old, isReloadable: true)
        return true
    }

    private func discard(_ slot: Slot<Value>) -> Value? {
        // If somebody is at work on it, it is left to them.
        guard let step = unsafe slot.header.pointee.apply({ $0.beginningMutation() }) else { return nil }
        return replace(in: slot, hadValue: step.before.isResident, with: nil, nil)
    }
}

// MARK: - Saved values

extension LazyEntry {
    /// Calls `body` with a slot that readers find and that is this thread's to fill, and whether it has a value. One in
    /// use is replaced.
    ///
    /// - Throws: `recursiveAccess`.
    func takeTurn(_ body: (Slot<Value>, _ hadValue: Bool) -> Void) throws(PressureError) {
        try beginWriting()
        defer { endWriting() }
        while true {
            let slot = slot
            if let step = unsafe slot.header.pointee.apply({ $0.beginningMutation() }) {
                return body(slot, step.before.isResident)
            }
            switch unsafe slot.header.pointee.state.phase {
            case .resident, .loading, .restoring:
                let fresh = spareSlot()
                fill(fresh, with: nil, nil)
                unsafe current.store(fresh.base, ordering: .releasing)
                let step = retire(slot)
                body(fresh, false)
                unsafe wake(slot.base, after: step.before)
                if step.after.isAbandoned { unsafe recycle(slot.base) }
                return
            case .unloaded, .mutating, .releasing, .spilled, .retired: sched_yield()
            }
        }
    }
}
