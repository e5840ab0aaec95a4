import PressureSignals
import PressureSystem
import SpillStore

extension ReclaimEngine {
    /// Evicts values of its own, so that what the Swift runtime builds on first use is there before memory is short: some
    /// that are written together, one in several chunks, and one that is dropped.
    func rehearse() throws(PressureError) {
        let root = PressureController("rehearsal")
        for name in ["first", "second", "third"] {
            _ = try root.cache(name, initialValue: [UInt8](repeating: 1, count: 64))
        }
        _ = try root.cache("long", initialValue: [UInt8](repeating: 1, count: SegmentFile.chunkSize + 1))
        let dropped = try root.cache("dropped") { [UInt8](repeating: 2, count: 64) }
        try? dropped.loadIfNeeded()
        reserve(values: 5, caches: 5)
        var progress = begin()
        round(&progress, root: root, amount: .everything)
        var report = EvictionReport(
            cause: PressureCause(origin: .request, source: "rehearsal", levelBefore: .normal, levelAfter: .normal)
        )
        end(&progress, report: &report)
        history.withLock { $0 = PlanHistory(start: UseClock.now) }
        reclaimability.withLock { $0 = Reclaimability() }
    }
}
