import Glibc
import PressureSystem
import SpillStore
import Synchronization

/// Reading a value back from its copy.
extension ValueEntry {
    /// As ``Finding``, for readers who want only what there is: `nil` when there is no slot.
    typealias KeptFinding = (_ begins: Beginning) -> (slot: Slot<Value>, turn: Turn?)?

    /// Pins a value that there is, in memory or in a copy; `nil` when there is none, or only a loader that makes it. Runs
    /// no loader and waits for none; else blocks.
    ///
    /// - Throws: ``PressureError`` when the copy cannot be read, or `recursiveAccess`.
    func acquireKept(from find: KeptFinding) throws -> Slot<Value>? {
        while let (slot, turn) = find(.restores) {
            switch turn {
            case .pinned: return slot
            case .restore: if try restore(slot, nil) { return slot }
            case .wait(let arrival):
                try wait(for: slot, since: arrival)
            case .missing: return nil
            case .load: preconditionFailure("began what it was not to begin")
            case .away, nil: sched_yield()
            }
        }
        return nil
    }

    /// The same without ever blocking the calling thread, for caches whose loaders do not suspend.
    func acquireKeptSuspending(
        from find: @escaping @Sendable (_ begins: Beginning) -> (slot: Slot<Value>, turn: Turn?)?
    ) async throws -> Slot<Value>? {
        while let (slot, turn) = find(.neitherOfKept) {
            switch turn {
            case .pinned: return slot
            case .missing: return nil
            case .load, .restore: preconditionFailure("began what it was not to begin")
            case .away:
                let made = try await Load.job(on: .restores) { () throws -> Slot<Value>? in
                    guard let (slot, turn) = find(.restores) else { return nil }
                    return switch turn {
                    case .pinned: slot
                    case .restore: try self.restore(slot, nil) ? slot : nil
                    case .load, .wait, .away, .missing, nil: nil
                    }
                }
                if let made { return made }
            case .wait(let arrival):
                try await wait(for: slot, since: arrival)
            case nil: await Task.yield()
            }
        }
        return nil
    }

    /// Reads the copy back in a slot whose restore has begun. Returns as `load` does. A copy that cannot be
    /// used is replaced by what the loader makes.
    func restore(_ slot: Slot<Value>, _ loader: (() throws -> Value)?) throws -> Bool {
        do {
            return try admitted(expectedOfRestore(slot), isLoaded: false) {
                putRestored(try readBack(slot), in: slot)
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

    /// What a restore takes until it has ended: the value, and as much again for what is read, a chunk at a time.
    func expectedOfRestore(_ slot: Slot<Value>) -> Int {
        let footprint = unsafe slot.header.pointee.footprint.load(ordering: .relaxed)
        return footprint + min(footprint, SegmentFile.chunkSize)
    }

    /// Makes the value from the copy of a slot whose restore has begun, while the slot names this thread as its maker. Blocks
    /// on the disk.
    func readBack(_ slot: Slot<Value>) throws -> Value {
        slot.nameMaker(.currentThread)
        defer { slot.nameMaker(0) }
        let plainByteCount = unsafe slot.header.pointee.plainByteCount.load(ordering: .relaxed)
        let clock = clock
        let start = clock.now()
        let value = unsafe try slot.copy.pointee.restore(Value.self, plainByteCount: plainByteCount)
        let compressed = unsafe slot.copy.pointee.compressedByteCount
        clock.spent(on: .decompressing, byteCount: compressed)
        let duration = clock.now() - start
        statistics.noteRestore(duration, byteCount: plainByteCount, compressed: compressed)
        host?.didRead(in: duration)
        return value
    }

    /// Ends a restore with its value. Returns as `putInPlace` does.
    func putRestored(_ value: consuming Value, in slot: Slot<Value>, settle: () -> Void = {}) -> Bool {
        // Nobody needs the value in memory twice, once compressed.
        if unsafe slot.header.pointee.state.copyKind == .compressed { unsafe slot.copy.pointee.release() }
        let isWanted = putInPlace(value, in: slot, settle: settle) { $0.finishingRestore(stamp: $1, horizon: $2) }
        if isWanted { host?.didRestore(PressureResource(entry: self)) }
        return isWanted
    }

    /// Counts a restore that has failed and sends the failure up. Returns what its readers are told.
    func noteFailedRestore(_ slot: Slot<Value>, _ error: any Error) -> any Error {
        // Being restored: whether a loader makes it does not change.
        let isReloadable = unsafe slot.header.pointee.state.isReloadable
        // The copy stays where it is until the restore is over.
        let server = unsafe slot.copy.pointee.file?.fileSystem.server
        let error = (error as? SpillFailure)?.pressureError(server: server, isReloadable: isReloadable) ?? error
        let failure = (error as? PressureError)?.at(path: unsafe path(of: slot.base))
        statistics.failures.wrappingAdd(1, ordering: .relaxed)
        if !climb(.restore, failure ?? error), let failure { host?.note(failure) }
        return failure ?? error
    }

    /// Ends a restore that has failed and leaves the copy where it is. Returns and calls `settle` as `failLoad` does.
    ///
    /// Who waits for a value that the loader makes looks again: not everybody leaves the loader alone.
    func failRestore(_ slot: Slot<Value>, _ failure: any Error, settle: () -> Void = {}) -> Bool {
        guard let step = unsafe slot.header.pointee.apply({ $0.failingRestore() }) else {
            release(slot)
            return false
        }
        settle()
        unsafe wake(slot.base, after: step.before, outcome: step.before.isReloadable ? .changed : .failed(failure))
        return true
    }
}
