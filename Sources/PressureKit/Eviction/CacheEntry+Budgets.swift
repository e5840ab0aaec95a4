import PressureSystem
import Synchronization

/// What caches do for the budgets of those above them. Most have none above them, and do not count.
extension CacheEntry {
    /// Values may have come into memory: budgets above are kept to. With nothing locked; may block on the disk.
    func keepBudgets() {
        guard traits.isBudgeted.load(ordering: .relaxed) else { return }
        let bytes = residentByteCount
        let arrived = bytes - traits.counted.exchange(bytes, ordering: .relaxed)
        guard arrived > 0 else { return }
        host?.didGrow(by: arrived)
    }

    /// The same for a reader that must not block.
    func keepBudgets() async {
        guard traits.isBudgeted.load(ordering: .relaxed) else { return }
        try? await Load.job(on: .restores) { self.keepBudgets() }
    }

    /// Something has left: what comes back is an arrival.
    func noteForBudgets() {
        guard traits.isBudgeted.load(ordering: .relaxed) else { return }
        traits.counted.store(residentByteCount, ordering: .relaxed)
    }
}
