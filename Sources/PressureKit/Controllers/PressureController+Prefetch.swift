/// Restoring ahead what is about to be seen.
extension PressureController {
    /// Begins to restore what this controller, and those that appear with it, have in the spill file or compressed: the
    /// most recently used first, on threads of the library's own. Does not wait for it.
    ///
    /// Only while memory is not short, and new pressure ends it; what is left comes back on its next access. Loaders are
    /// not run.
    func restoreAhead() {
        guard let context, context.restoresAhead, context.scene.level == .normal else { return }
        var entries: [CacheEntry] = []
        collectAppearing(into: &entries)
        guard !entries.isEmpty else { return }
        entries.sort { UseClock.isReading($0.stamp, after: $1.stamp) }
        let (scene, clock, events) = (context.scene, context.clock, context.events)
        let demands = scene.demands
        guard !context.isSequential else {
            return context.putOff { [entries] in
                let start = clock.now()
                var report = RestoreReport(bringingBackInTurn: entries) { scene.demands == demands }
                report.duration = clock.now() - start
                events.deliver(.restoreFinished(report))
            }
        }
        Task {
            let start = clock.now()
            var report = await RestoreReport(bringingBack: entries) { scene.demands == demands }
            report.duration = clock.now() - start
            events.deliver(.restoreFinished(report))
        }
    }

    /// The caches with something to restore of this controller and those that appearance is forwarded to.
    private func collectAppearing(into found: inout [CacheEntry]) {
        let (entries, forwards, below) = state.withLock { ($0.entries, $0.forwardsAppearance, $0.below) }
        found += entries.filter { $0.comesBack && $0.residency.isCopyOnly }
        guard forwards else { return }
        for controller in below { controller.collectAppearing(into: &found) }
    }
}

extension Residency {
    /// Whether the value is in a copy only.
    var isCopyOnly: Bool { self == .spilled || self == .compressed }
}
