import PressureSystem
import SpillStore
import Synchronization

/// How the engine moves a value out of memory: first a copy, while readers go on, then the release, if nobody holds it.
extension CacheEntry {
    /// How a value in memory would leave with nothing restricted: at once, if it has a copy or its loader is quicker than
    /// reading one back, or by so little that a copy is not worth its writing; else by a copy. Allocates nothing.
    func wayOut(
        _ slot: UnsafeMutableRawPointer,
        _ word: ResidencyWord,
        canSpill: Bool = true,
        compression: CompressedTierUse = .none
    ) -> Candidate.Method {
        guard !word.isClean else { return .release }
        let byteCount = unsafe plainByteCount(slot)
        let arrival = unsafe header(slot).pointee.arrival.load(ordering: .relaxed)
        return .forDirty(
            isReloadable: word.isReloadable,
            loadTime: statistics.loadTime,
            restoreTime: .nanoseconds(Int64(statistics.restoreCost(byteCount: byteCount))),
            byteCount: byteCount,
            canSpill: canSpill,
            compression: compression,
            writeTime: .nanoseconds(Int64(statistics.writeCost(byteCount: byteCount))),
            findsOut: statistics.isFindingOut,
            isUnconfirmed: statistics.isUnconfirmed,
            // Fibonacci hashing (Knuth, TAOCP 6.4): instants are far from random.
            draw: Double(arrival &* 0x9E37_79B9) / 0x1p32
        )
    }

    /// Marks the value as being copied, so that nobody changes it. `false` when it is not there, is copied already, or
    /// is being copied by someone else.
    func beginCopy(_ slot: UnsafeMutableRawPointer, in file: SegmentFile) -> Bool {
        guard unsafe header(slot).pointee.apply({ $0.beginningCopy() }) != nil else { return false }
        // The word says `copying`: the copy is ours.
        unsafe copy(slot).pointee.begin(in: file)
        return true
    }

    /// A chunk is written. Several chunks of one value may be noted by several threads at once.
    func note(_ record: SpillRecord, ofChunk index: Int, in slot: UnsafeMutableRawPointer) {
        // The copy is the copier's; with several chunks, each thread writes an element of its own.
        if let records = unsafe copy(slot).pointee.manyRecords {
            unsafe records[index] = record
        } else {
            unsafe copy(slot).pointee.setOnlyRecord(record)
        }
    }

    /// The copy is written and checked, as it is to stay or `isProvisional`, or given up. Returns the bytes it takes in
    /// the file, 0 if it is of no use.
    @discardableResult
    func finishCopy(_ slot: UnsafeMutableRawPointer, succeeded: Bool, isProvisional: Bool = false) -> Int {
        if !succeeded { unsafe copy(slot).pointee.release() }
        let byteCount = unsafe plainByteCount(slot)
        let stored = unsafe copy(slot).pointee.storedByteCount
        let kind = unsafe copy(slot).pointee.file?.copyKind ?? .settled
        let step = unsafe header(slot).pointee.apply {
            $0.finishingCopy(succeeded: succeeded, as: isProvisional ? .provisional : kind)
        }
        guard let step else {
            preconditionFailure("finished a copy that was not begun")
        }
        // A copy keeps off writers (they put a new slot in place), so a wake-up is never due here; but the slot may
        // have been replaced, and then the copier is the last to leave.
        if step.after.isAbandoned { unsafe recycle(slot) }
        if succeeded { statistics.copiedBytes.wrappingAdd(byteCount, ordering: .relaxed) }
        return step.after.isClean ? stored : 0
    }

    /// Takes the value out of memory if nobody holds it and it exists elsewhere. Returns the bytes claimed, or `nil`
    /// when it had to stay. Calls the delegate's hooks, with nothing locked.
    func release(_ slot: UnsafeMutableRawPointer, dropping: Bool) -> Int? {
        unsafe revokeBias(slot)
        guard unsafe header(slot).pointee.apply({ $0.beginningRelease(dropping: dropping) }) != nil else {
            return nil
        }
        let footprint = unsafe header(slot).pointee.footprint.load(ordering: .relaxed)
        let resource = PressureResource(entry: self)
        var wasDropped = false
        let host = host
        unsafe destroyValue(in: slot) {
            guard let ended = unsafe header(slot).pointee.apply({ $0.finishingRelease(stamp: UseClock.now) }) else {
                preconditionFailure("finished a release that was not begun")
            }
            wasDropped = ended.after.phase == .unloaded
            unsafe wake(slot, after: ended.before)
            host?.willEvict(resource)
        }
        if wasDropped { unsafe didDrop(slot) }
        statistics.evictions.wrappingAdd(1, ordering: .relaxed)
        statistics.evictedBytes.wrappingAdd(footprint, ordering: .relaxed)
        host?.didEvict(resource)
        return footprint
    }

    /// Wakes whoever slept on a slot that has just changed.
    func wake(_ slot: UnsafeMutableRawPointer, after word: ResidencyWord, outcome: ParkingLot.Outcome = .changed) {
        if word.hasWaiters { ParkingLot.unpark(UInt(bitPattern: slot), outcome: outcome) }
    }
}

extension SegmentFile {
    /// What a copy in this file is, if it is to stay as it is.
    var copyKind: ResidencyWord.CopyKind {
        if isInMemory { return .compressed }
        return fileSystem.server == nil ? .settled : .remote
    }
}
