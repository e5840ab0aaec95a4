import PressureSignals
import PressureSystem
import SpillStore

extension ReclaimEngine {
    /// Evicts values of its own, so that what the Swift runtime builds on first use is there before memory is short: some
    /// that are written together, one in several chunks, two that do not shrink and so go to the file where the others are
    /// compressed in memory, and one that is dropped.
    func rehearse() throws(PressureError) {
        let root = PressureController("rehearsal")
        for name in ["first", "second", "third"] {
            _ = try root.cache(name, initialValue: [UInt8](repeating: 1, count: 64))
        }
        _ = try root.cache("long", initialValue: [UInt8](repeating: 1, count: SegmentFile.chunkSize + 1))
        for (name, count) in [("noise", 64), ("more noise", SegmentFile.longestBatched + 1)] {
            var last: UInt32 = 1
            let noise = (0..<count).map { _ in
                last = last &* 1_664_525 &+ 1_013_904_223
                return UInt8(last >> 24)
            }
            _ = try root.cache(name, initialValue: noise)
        }
        let dropped = try root.cache("dropped") { [UInt8](repeating: 2, count: 64) }
        try? dropped.loadIfNeeded()
        reserve(values: 7, caches: 7)
        var progress = begin()
        // What does not shrink goes in the second round.
        for _ in 0..<2 { round(&progress, root: root, amount: .everything) }
        var report = EvictionReport(
            cause: PressureCause(origin: .request, source: "rehearsal", levelBefore: .normal, levelAfter: .normal)
        )
        end(&progress, report: &report)
        history.withLock { $0 = PlanHistory(start: UseClock.now) }
        reclaimability.withLock { $0 = Reclaimability() }
    }
}
