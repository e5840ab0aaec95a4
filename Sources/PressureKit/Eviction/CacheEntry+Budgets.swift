import PressureSystem
import Synchronization

/// What caches do for the budgets of those above them.
enum Budgets {
    /// Whether anybody in this process ever had one. Most have none, and their caches need not count for it.
    static let exist = Atomic<Bool>(false)
}

extension CacheEntry {
    /// Values may have come into memory: budgets above are kept to. With nothing locked; may block on the disk.
    func keepBudgets() {
        guard Budgets.exist.load(ordering: .relaxed) else { return }
        let bytes = residentByteCount
        let arrived = bytes - traits.counted.exchange(bytes, ordering: .relaxed)
        guard arrived > 0 else { return }
        host?.didGrow(by: arrived)
    }

    /// The same for a reader that must not block.
    func keepBudgets() async {
        guard Budgets.exist.load(ordering: .relaxed) else { return }
        try? await BlockingPool.restores.run { self.keepBudgets() }
    }

    /// Something has left: what comes back is an arrival.
    func noteForBudgets() {
        guard Budgets.exist.load(ordering: .relaxed) else { return }
        traits.counted.store(residentByteCount, ordering: .relaxed)
    }
}
