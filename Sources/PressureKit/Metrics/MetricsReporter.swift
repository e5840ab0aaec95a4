#if Metrics
import CoreMetrics
import PressureSignals
import PressureSystem

/// Tells the handles of a ``PressureMetrics`` what a manager does.
final class MetricsReporter: ManagerMeter {
    private struct Sources {
        weak var root: PressureController?
        weak var monitor: PressureMonitor?
    }

    private let metrics: PressureMetrics
    private let engine: ReclaimEngine
    private let clock: any MonotonicClock
    private let pace = Lock(MeterPace())
    private let sources = Lock(Sources())

    init(_ metrics: PressureMetrics, engine: ReclaimEngine, clock: any MonotonicClock) {
        self.metrics = metrics
        self.engine = engine
        self.clock = clock
    }

    /// Says whose counts are told. Keeps neither alive.
    func connect(root: PressureController, monitor: PressureMonitor) {
        sources.withLock { $0 = Sources(root: root, monitor: monitor) }
    }

    func sampled() {
        let sources = sources.withLock { $0 }
        guard let monitor = sources.monitor, let root = sources.root else { return }
        let isNormal = monitor.level == .normal
        let due = pace.withLock { $0.due(at: clock.now(), isNormal: isNormal) }
        guard due.counts else { return }
        tellState(monitor)
        tellCounts(root)
        if due.tiers { tellTiers(root) }
    }

    func reclaimed(_ report: EvictionReport) {
        tell(report)
        let sources = sources.withLock { $0 }
        guard let monitor = sources.monitor, let root = sources.root else { return }
        tellState(monitor)
        tellCounts(root)
        tellTiers(root)
    }

    func restored(_ duration: Duration) { metrics.restoreTime.recordNanoseconds(duration.nanoseconds) }

    // MARK: Parts

    private func tellState(_ monitor: PressureMonitor) {
        metrics.level.set(monitor.level.rank)
        metrics.score.set(monitor.score)
        guard let headroom = monitor.headroom else { return }
        metrics.headroom.set(headroom.available.bytes)
        metrics.limit.set(headroom.limit.bytes)
        let standing = monitor.standing
        metrics.neighbours.set(standing?.count ?? 0)
        if let standing { metrics.budgetBytes.set(standing.budget) }
    }

    private func tellCounts(_ root: PressureController) {
        // A handle is somebody else's code, and is called with nothing locked.
        var counts = UnreportedCounts()
        PressureController.hierarchy.withLock { _ in root.forEachEntry { $0.statistics.takeUnreported(into: &counts) } }
        tell(counts.loads, metrics.loads)
        tell(counts.restores, metrics.restores)
        tell(counts.refaults, metrics.refaults)
        tell(counts.failures, metrics.failures)
    }

    private func tell(_ count: Int, _ counter: Counter) {
        if count > 0 { counter.increment(by: count) }
    }

    private func tellTiers(_ root: PressureController) {
        let start = clock.now()
        var tiers = PressureSnapshot.Tiers()
        PressureController.hierarchy.withLock { _ in root.forEachEntry { tiers += $0.tiers } }
        let file = engine.file.usage().allocatedBytes
        let end = clock.now()
        pace.withLock { $0.noteTiers(end - start, at: end) }
        metrics.residentBytes.set(tiers.resident.bytes)
        metrics.compressedBytes.set(tiers.compressed.bytes)
        metrics.spilledBytes.set(tiers.spilled.bytes)
        metrics.cleanBytes.set(tiers.clean.bytes)
        metrics.cleanFraction.set(tiers.cleanFraction)
        if let file { metrics.spillFileBytes.set(file) }
    }

    private func tell(_ report: EvictionReport) {
        metrics.reclaims.increment()
        metrics.reclaimTime.recordNanoseconds(report.duration.nanoseconds)
        tell(report.claimed.bytes, metrics.claimedBytes)
        // It is negative when the process grew meanwhile, which a counter cannot be.
        tell(report.returned.bytes, metrics.returnedBytes)
        if report.claimed > .zero { metrics.returnedOverClaimed.set(report.returnedOverClaimed) }
        for evicted in report.evicted { tell(evicted.count, metrics.counter(of: evicted.outcome)) }
    }
}

extension PressureMetrics {
    fileprivate func counter(of outcome: EvictionReport.Outcome) -> Counter {
        switch outcome {
        case .reused: reused
        case .spilled: spilled
        case .compressed: compressed
        case .dropped: dropped
        }
    }
}

extension PressureLevel {
    /// As it is told.
    fileprivate var rank: Int {
        switch self {
        case .normal: 0
        case .warning: 1
        case .critical: 2
        }
    }
}
#endif
