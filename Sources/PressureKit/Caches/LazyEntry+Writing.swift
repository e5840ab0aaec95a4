import Glibc
import Synchronization

/// Changing the value. A writer waits for other writers and for whoever is making the value, never for readers: if the
/// value is in use, the new one goes into a slot of its own and the readers keep what they hold.
extension LazyEntry {
    /// Replaces the value, or with `nil` takes it away, with its copy.
    func replace(with value: consuming Value?) throws(PressureError) {
        try beginWriting()
        defer { endWriting() }
        while true {
            let slot = slot
            if let step = unsafe slot.header.pointee.apply({ $0.beginningMutation() }) {
                return replace(in: slot, hadValue: step.before.isResident, with: value)
            }
            switch unsafe slot.header.pointee.state.phase {
            case .resident, .loading, .restoring:
                let fresh = spareSlot()
                if let value { fill(fresh, with: value) } else { vacate(fresh) }
                return put(fresh, inPlaceOf: slot)
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
            defer { endWriting() }
            guard unsafe slot.base == self.slot.base else {
                release(slot)
                continue
            }
            return try update(slot, body)
        }
    }

    private func update<Result>(_ slot: Slot<Value>, _ body: (inout Value) throws -> Result) throws -> Result {
        if unsafe slot.header.pointee.apply({ $0.upgrading() }) != nil {
            return try updateInPlace(slot, body)
        }
        defer { release(slot) }
        var value = unsafe slot.value.pointee
        let result = try body(&value)
        let fresh = spareSlot()
        fill(fresh, with: value)
        put(fresh, inPlaceOf: slot)
        return result
    }

    // MARK: Putting another slot in place

    private func put(_ fresh: Slot<Value>, inPlaceOf old: Slot<Value>) {
        unsafe current.store(fresh.base, ordering: .releasing)
        while true {
            if let step = unsafe old.header.pointee.apply({ $0.retiring() }) {
                unsafe wake(old.base, after: step.before)
                if step.after.isAbandoned { unsafe recycle(old.base) }
                return
            }
            sched_yield()  // An eviction's last step.
        }
    }

    private func vacate(_ slot: Slot<Value>) {
        clear(slot)
        unsafe slot.header.pointee.word.store(ResidencyWord.unloaded.rawValue, ordering: .releasing)
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
