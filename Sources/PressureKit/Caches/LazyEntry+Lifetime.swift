import PressureSystem
import Synchronization

/// A value that ends, and that is loaded anew before.
extension LazyEntry {
    /// Before a read: takes the value away if it has ended, notes the read if it has not, and has it loaded anew when it is
    /// due. Returns whether it may be read; `false` too when it has ended and a writer is about to replace it.
    @usableFromInline
    func attend() -> Bool {
        guard let lifetimes else { return true }
        let now = lifetimes.now(host)
        let slot = slot
        switch unsafe noteRead(slot.base, at: now) {
        case .fresh: return true
        case .due:
            refreshSlot(slot, at: now)
            return true
        case .over: return discardEnded(at: now)
        }
    }

    private func discardEnded(at now: UInt32) -> Bool {
        guard (try? takeWriting()) == true else { return false }
        exchange(for: nil, nil) { unsafe self.isOver($0.base, at: now) }
        return true
    }

    private func refreshSlot(_ slot: Slot<Value>, at now: UInt32) {
        guard let refresher = loader.map(Refresher.blocking) ?? suspendingLoader.map(Refresher.suspending) else {
            return
        }
        let arrival = unsafe slot.header.pointee.arrival.load(ordering: .relaxed)
        refresh(slot, at: now, refresher) { [self] value, size in
            // A writer whose turn it is has something newer.
            guard (try? takeWriting()) == true else { return }
            _ = exchange(slot, since: arrival, for: value, size)
        }
    }
}
