import Glibc
import PressureSystem
import Synchronization

/// Changing the value. A writer waits for other writers and for whoever is making the value, never for readers: if the
/// value is in use, the new one goes into a slot of its own and the readers keep what they hold.
extension LazyEntry {
    /// Replaces the value, or with `nil` takes it away, with its copy. The value's size is measured by the caller, before
    /// it is anybody's turn.
    func replace(with value: consuming Value?, _ size: ValueSize?) throws(PressureError) {
        try beginWriting()
        exchange(for: value, size)
        keepBudgets()
    }

    /// The same, suspending while another writer has its turn, and while room is made.
    func replaceSuspending(with value: consuming Value?, _ size: ValueSize?) async throws(PressureError) {
        try await beginWritingSuspending()
        exchange(for: value, size)
        await keepBudgets()
    }

    /// Puts a value, or none, in place of the one there is, if `condition` holds of its slot or none is given, and ends this
    /// thread's turn.
    func exchange(for value: consuming Value?, _ size: ValueSize?, if condition: ((Slot<Value>) -> Bool)? = nil) {
        var left = Left()
        defer {
            endWriting()
            letGo(left)
        }
        while true {
            let slot = slot
            guard condition?(slot) ?? true else { return }
            unsafe revokeBias(slot.base)
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
            let changed = change(slot, body)
            keepBudgets()
            guard let changed else { continue }
            waitForRoom(after: changed.growth)
            return try changed.result.get()
        }
    }

    /// The same for a cache whose loader suspends: suspends where that one blocks, but not while `body` runs.
    func updateSuspending<Result>(_ body: (inout Value) throws -> Result) async throws -> Result {
        while true {
            let slot = try await acquire()
            do { try await beginWritingSuspending() } catch {
                release(slot)
                throw error
            }
            let changed = change(slot, body)
            await keepBudgets()
            guard let changed else { continue }
            await waitForRoom(after: changed.growth)
            return try changed.result.get()
        }
    }

    /// Changes a value that this thread, whose turn it is, has pinned, and ends both; `nil` when another value has taken
    /// its place.
    func change<Result>(
        _ slot: Slot<Value>,
        _ body: (inout Value) throws -> Result
    ) -> (result: Swift.Result<Result, any Error>, growth: Int)? {
        var isPinned = true
        defer {
            endWriting()
            // It may be the last that held a slot which was replaced.
            if isPinned { release(slot) }
        }
        guard unsafe slot.base == self.slot.base else { return nil }
        unsafe revokeBias(slot.base)
        if unsafe slot.header.pointee.apply({ $0.upgrading() }) != nil {
            isPinned = false
            return updateInPlace(slot, body)
        }
        var value = unsafe slot.value.pointee
        let result = Swift.Result { try body(&value) }
        // What was changed before it failed was a copy.
        if case .failure = result { return (result, 0) }
        let size = ValueSize(value)
        // Pinned by this thread, so it cannot be abandoned yet.
        _ = put(value, size, inPlaceOf: slot)
        return (result, size.footprint)
    }

    // MARK: Putting another slot in place

    /// Puts a value, or none, into a slot of its own in place of one that is in use.
    ///
    /// The new slot is found first, opened last: nobody reads the new value before the old one is out of reach, so no
    /// reader sees the new one and then the old one again.
    ///
    /// - Returns: the old slot if nobody holds it any more: it is to be recycled when this thread's turn has ended.
    func put(
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
    struct Left {
        var value: Value?
        var slot: Slot<Value>?
    }

    func letGo(_ left: consuming Left) {
        if let slot = left.slot { unsafe recycle(slot.base) }
    }

    private func retire(_ slot: Slot<Value>) -> (before: ResidencyWord, after: ResidencyWord) {
        while true {
            if let step = unsafe slot.header.pointee.apply({ $0.retiring() }) { return step }
            // Else it is an eviction's last step.
            if unsafe !revokeBias(slot.base) { sched_yield() }
        }
    }

    // MARK: One writer at a time

    private var writerAddress: UInt { UInt(bitPattern: unsafe Unmanaged.passUnretained(self).toOpaque()) }

    /// - Throws: `recursiveAccess` when this thread is the writer already.
    func beginWriting() throws(PressureError) {
        while try !takeWriting() {
            _ = ParkingLot.park(on: writerAddress) { writer.load(ordering: .acquiring) != 0 }
        }
    }

    /// The same without blocking. The turn is this thread's, so that it is to end before the task suspends again.
    func beginWritingSuspending() async throws(PressureError) {
        while try !takeWriting() {
            _ = await ParkingLot.park(on: writerAddress) { writer.load(ordering: .acquiring) != 0 }
        }
    }

    func takeWriting() throws(PressureError) -> Bool {
        let (exchanged, holder) = writer.compareExchange(
            expected: 0,
            desired: .currentThread,
            ordering: .acquiringAndReleasing
        )
        if !exchanged, holder == .currentThread { throw .recursiveAccess(path: path) }
        return exchanged
    }

    func endWriting() {
        writer.store(0, ordering: .releasing)
        ParkingLot.unpark(writerAddress)
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
            unsafe revokeBias(slot.base)
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
