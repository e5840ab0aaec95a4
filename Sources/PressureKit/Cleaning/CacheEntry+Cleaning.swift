import PressureSystem
import SpillStore
import Synchronization

/// What is to be done for a cache's values in idle time.
extension CacheEntry {
    /// Lists the values whose copies are missing, in memory, or written in haste, if they have not been used for a while.
    /// Locks little at a time.
    ///
    /// - Parameter demotable: Which of those whose copies are on the disk are to be listed too, if they are out of memory: the copy
    ///   of one in memory is what lets it leave at once.
    func list(
        in work: CleaningWork,
        behind line: ColdLine,
        canSpill: Bool,
        demotable: ReclaimEngine.Demotable = .none
    ) {
        unsafe forEachSlotInSlices { slot in
            // What nobody reads any more is not worth a copy.
            guard unsafe !isOver(slot) else { return }
            let word = unsafe header(slot).pointee.state
            let needsMove = word.copyKind == .compressed || word.copyKind == .provisional
            let isDemotable = demotable == .all || demotable == .reloadable && word.isReloadable
            switch word.phase {
            case .spilled where isDemotable && (word.copyKind == .settled || word.copyKind == .provisional):
                guard line.isBehind(word.stamp) else { return work.postpone() }
                unsafe work.append(self, slot, .demote)
            case .spilled where needsMove:
                if line.isBehind(word.stamp), canSpill {
                    unsafe work.append(self, slot, .move)
                } else {
                    work.postpone()
                }
            case .resident:
                let footprint = unsafe header(slot).pointee.footprint.load(ordering: .relaxed)
                guard footprint > 0 else { return }
                // One that may not go to the disk is not copied there either.
                guard unsafe wayOut(slot, word).needsCopy, !word.isCopying, traits.current.allows(.spill) else {
                    return
                }
                if line.isBehind(word.stamp), canSpill {
                    unsafe work.append(self, slot, .copy)
                } else {
                    work.postpone()
                }
            default: break
            }
        }
    }

    /// Writes the copy of a value that is not in memory anew, to another file or in a better encoding.
    ///
    /// The slot says `restoring` meanwhile, so readers wait; as soon as one does, or a writer has put another value in
    /// place, the move is given up between two chunks and the old copy stays. So it does when it cannot be read: its
    /// readers will learn of it. Returns the plain bytes of the value, 0 if nothing was moved. Blocks.
    ///
    /// - Parameters:
    ///   - tools: scratch of the calling thread.
    ///   - goesOn: asked before each chunk.
    /// - Throws: why the new copy could not be written.
    func moveCopy(
        _ slot: UnsafeMutableRawPointer,
        to file: SegmentFile,
        with tools: CleaningTools,
        while goesOn: () -> Bool
    ) throws(SpillFailure) -> Int {
        guard let begun = unsafe header(slot).pointee.apply({ $0.beginningRestore() }) else { return 0 }
        var kind = begun.before.copyKind
        // The old copy goes for it.
        let assurance = begun.before.isReloadable ? SpillAssurance.readBack : .onDevice
        defer {
            let ended = unsafe header(slot).pointee.apply {
                $0.finishingMove(to: kind)
            }
            if let ended { unsafe wake(slot, after: ended.before) } else { unsafe leave(slot) }
        }
        let byteCount = unsafe plainByteCount(slot)
        var fresh = SpillCopy()
        fresh.reserve(byteCount: byteCount)
        fresh.begin(in: file)
        // `restoring`: the old copy is ours.
        let old = unsafe copy(slot)
        guard let oldFile = unsafe old.pointee.file else { return 0 }
        for chunk in 0..<fresh.chunkCount {
            let word = unsafe header(slot).pointee.state
            guard word.phase == .restoring, !word.hasWaiters, goesOn(), let record = unsafe old.pointee.record(chunk)
            else {
                fresh.free()
                return 0
            }
            let range = SegmentFile.chunkRange(chunk, ofByteCount: byteCount)
            // A chunk is no longer than the scratch.
            let plain = unsafe UnsafeMutableRawBufferPointer(rebasing: tools.plain.bytes[..<range.count])
            do throws(SpillFailure) {
                try unsafe oldFile.read(record, into: plain, with: tools.decoder)
            } catch {
                fresh.free()
                // Nothing to be tried again and again.
                if kind == .provisional { kind = .settled }
                return 0
            }
            do throws(SpillFailure) {
                let record = try unsafe file.write(
                    UnsafeRawBufferPointer(plain),
                    with: tools.encoder,
                    compress: .adaptive,
                    assurance: assurance
                )
                fresh.note(record, chunk)
            } catch {
                fresh.free()
                throw error
            }
        }
        unsafe statistics.rewrittenFromBytes.wrappingAdd(old.pointee.storedByteCount, ordering: .relaxed)
        statistics.rewrittenToBytes.wrappingAdd(fresh.storedByteCount, ordering: .relaxed)
        unsafe old.pointee.free()
        unsafe old.pointee = fresh
        kind = file.copyKind
        return byteCount
    }

    /// Gives up the pin that a maker was given when its slot was replaced.
    private func leave(_ slot: UnsafeMutableRawPointer) { unsafe giveBack(slot) }
}

/// The scratch of the thread that works in idle time.
final class CleaningTools: @unchecked Sendable {
    // Sendable: belongs to the worker's state, which one thread has at a time.
    let encoder: ChunkEncoder
    let decoder: ChunkDecoder
    let plain: ReservedPages

    init(clock: any MonotonicClock = SystemClock()) throws(PressureError) {
        encoder = try ChunkEncoder(clock: clock)
        decoder = try ChunkDecoder()
        plain = try ReservedPages(byteCount: SegmentFile.chunkSize)
    }
}
