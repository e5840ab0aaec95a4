import PressureSystem
import Synchronization

/// A cap on the bytes in memory of a controller and all below it, which it keeps to without any pressure.
extension PressureController {
    /// The most bytes of values that this controller and those below it hold in memory together; `nil`, as it is unless
    /// set, for no cap.
    ///
    /// When a value comes that is too much, others of the same subtree leave, in the manager's order of eviction, until
    /// a sixteenth of the budget is free again; nothing outside the subtree does. That happens on the thread of whoever
    /// brought the value, or on one of the library's for an `async` reader. Values in use stay, so that the budget may be
    /// exceeded by those. Setting a budget that is exceeded already evicts at once, and blocks meanwhile.
    ///
    /// Outside a manager's tree nothing is evicted.
    public var budget: ByteCount? {
        get { state.withLock { $0.budget } }
        set {
            state.withLock { state in
                state.budget = newValue
                state.budgetSlack = 0
            }
            // Those that come later see the budget when they join.
            Self.hierarchy.withLock { _ in forEachEntry { $0.traits.isBudgeted.store(true, ordering: .relaxed) } }
            keepToBudget()
        }
    }

    /// The bytes of the values in memory of this controller and all below it. Takes time in proportion to their number.
    public var residentByteCount: ByteCount {
        var entries: [(entry: CacheEntry, isVisible: Bool)] = []
        collectEntries(into: &entries)
        return ByteCount(bytes: entries.reduce(0) { $0 + $1.entry.residentByteCount })
    }

    /// Whether this controller or one above it has a budget.
    var isBudgeted: Bool {
        var next: PressureController? = self
        while let controller = next {
            if controller.budget != nil { return true }
            next = controller.superior
        }
        return false
    }

    /// So many bytes have come to one of its caches.
    func didGrow(by bytes: Int) {
        var next: PressureController? = self
        while let controller = next {
            controller.noteArrival(bytes)
            next = controller.superior
        }
    }

    /// So many bytes have come. Counts only when as many have come as there was room for at the last count.
    private func noteArrival(_ bytes: Int) {
        let isDue = state.withLock { state in
            guard state.budget != nil else { return false }
            state.budgetSlack -= bytes
            return state.budgetSlack < 0
        }
        if isDue { keepToBudget() }
    }

    private func keepToBudget() {
        guard let budget, let context else { return }
        let isFree = state.withLock { state in
            defer { state.isKeepingBudget = true }
            return !state.isKeepingBudget
        }
        // Somebody else is at it, or this is one of the hooks of that.
        guard isFree else { return }
        defer { state.withLock { $0.isKeepingBudget = false } }
        let excess = residentByteCount.bytes - budget.bytes
        if excess > 0 {
            let reclaim = SubtreeReclaim(root: self, context: context)
            let report = reclaim.run(goal: excess + budget.bytes / 16, source: "the budget of \(path)")
            if !report.evicted.isEmpty { context.events.deliver(.reclaimFinished(report)) }
        }
        let slack = budget.bytes - residentByteCount.bytes
        state.withLock { $0.budgetSlack = slack }
    }
}
