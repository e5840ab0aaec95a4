import Glibc
import PressureSystem
import SpillStore
import Synchronization

/// Saving a value, and being given one that was saved.
extension LazyEntry {
    /// Writes the value, wherever it is; `nil` when there is none. Blocks; readers go on, but for one that wants to
    /// restore the value at this moment.
    func saved(to writer: StateFrames) throws -> StateManifest.Value? {
        while true {
            let slot = slot
            if unsafe isOver(slot.base) { return nil }
            if slot.pin() {
                defer { release(slot) }
                return try savedPinned(slot, to: writer)
            }
            // As a restore: nobody else touches the copy meanwhile.
            if unsafe slot.header.pointee.apply({ $0.beginningRestore() }) != nil {
                defer { endHolding(slot) }
                return try savedCopy(slot, to: writer)
            }
            switch unsafe slot.header.pointee.state.phase {
            case .unloaded, .loading: return nil
            case .resident, .mutating, .releasing, .spilled, .restoring, .retired: sched_yield()
            }
        }
    }

    /// Puts a saved value in place of the one there is, if any, out of memory: the next access restores it.
    ///
    /// - Throws: ``PressureError`` with `recursiveAccess`.
    func adopt(_ value: StateManifest.Value, in file: SegmentFile) throws(PressureError) {
        try takeTurn { slot, hadValue in
            let old = hadValue ? unsafe slot.value.move() : nil
            if hadValue { noteArrival(unsafe -slot.header.pointee.footprint.load(ordering: .relaxed), values: -1) }
            adopt(value, in: file, slot)
            // Destroyed with nothing held but the turn.
            withExtendedLifetime(old) {}
        }
    }
}
