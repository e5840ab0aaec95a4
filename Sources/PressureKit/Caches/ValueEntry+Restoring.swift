import Glibc
import PressureSystem
import SpillStore
import Synchronization

/// Reading a value back from its copy.
extension ValueEntry {
    /// Pins a value that there is, in memory or in a copy; `nil` when there is none, or only a loader that makes it. Runs
    /// no loader and waits for none; else blocks.
    ///
    /// - Throws: ``PressureError`` when the copy cannot be read.
    func acquireKept(from find: Finding) throws -> Slot<Value>? {
        while true {
            let (slot, turn) = find(.restores)
            switch turn {
            case .pinned: return slot
            case .restore: if try restore(slot, nil) { return slot }
            case .wait(let arrival):
                if unsafe slot.header.pointee.state.phase == .loading { return nil }
                try follow(ParkingLot.park(on: slot.address) { slot.isStillBusy(since: arrival) })
            case .away: return nil
            case .load: preconditionFailure("began what it was not to begin")
            case nil: sched_yield()
            }
        }
    }

    /// Reads the copy back in a slot whose restore has begun. Returns as `load` does. A copy that cannot be
    /// used is replaced by what the loader makes.
    func restore(_ slot: Slot<Value>, _ loader: (() throws -> Value)?) throws -> Bool {
        do {
            let footprint = unsafe slot.header.pointee.footprint.load(ordering: .relaxed)
            return try admitted(footprint, isLoaded: false) {
                putRestored(try working(in: slot) { try readBack(slot) }, in: slot)
            }
        } catch {
            let failure = noteFailedRestore(slot, error)
            if loader != nil, unsafe slot.header.pointee.apply({ $0.rebuilding() }) != nil {
                return try load(slot, loader)
            }
            guard failRestore(slot, failure) else { return false }
            throw failure
        }
    }

    /// Makes the value from the copy of a slot whose restore has begun. Blocks on the disk.
    func readBack(_ slot: Slot<Value>) throws -> Value {
        let plainByteCount = unsafe slot.header.pointee.plainByteCount.load(ordering: .relaxed)
        let clock = clock
        let start = clock.now()
        let value = unsafe try slot.copy.pointee.restore(Value.self, plainByteCount: plainByteCount)
        clock.spent(on: .decompressing, byteCount: unsafe slot.copy.pointee.compressedByteCount)
        let duration = clock.now() - start
        statistics.noteRestore(duration, byteCount: plainByteCount)
        host?.didRead(in: duration)
        return value
    }

    /// Ends a restore with its value. Returns as `putInPlace` does.
    func putRestored(_ value: consuming Value, in slot: Slot<Value>, settle: () -> Void = {}) -> Bool {
        // Nobody needs the value in memory twice, once compressed.
        if unsafe slot.header.pointee.state.isCompressed { unsafe slot.copy.pointee.release() }
        let isWanted = putInPlace(value, in: slot, settle: settle) { $0.finishingRestore(stamp: $1, horizon: $2) }
        if isWanted { host?.didRestore(PressureResource(entry: self)) }
        return isWanted
    }

    /// Counts a restore that has failed and sends the failure up. Returns what its readers are told.
    func noteFailedRestore(_ slot: Slot<Value>, _ error: any Error) -> any Error {
        let error = (error as? SpillFailure)?.pressureError() ?? error
        let failure = (error as? PressureError)?.at(path: unsafe path(of: slot.base))
        statistics.failures.wrappingAdd(1, ordering: .relaxed)
        if !climb(.restore, failure ?? error), let failure { host?.note(failure) }
        return failure ?? error
    }

    /// Ends a restore that has failed and leaves the copy where it is. Returns and calls `settle` as `failLoad` does.
    func failRestore(_ slot: Slot<Value>, _ failure: any Error, settle: () -> Void = {}) -> Bool {
        guard let step = unsafe slot.header.pointee.apply({ $0.failingRestore() }) else {
            release(slot)
            return false
        }
        settle()
        unsafe wake(slot.base, after: step.before, outcome: .failed(failure))
        return true
    }
}
