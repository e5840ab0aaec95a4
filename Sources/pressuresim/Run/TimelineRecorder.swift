import PressureKit
import Synchronization

/// Takes the points of a run's curve: ten a second in real time, in virtual time one at each step's ends and one every so
/// many events. When there are too many, every second one goes, and from then on half as many are taken.
final class TimelineRecorder: Sendable {
    /// The most points that are kept.
    static let mostPoints = 2000

    private struct State {
        var points: [Timeline.Point] = []
        var step = 0
        /// Real time between two points.
        var interval = Duration.milliseconds(100)
        /// Events between two points.
        var stride = 50
        var events = 0
        var isRunning = false
    }

    private let manager: PressureManager
    private let log: RunLog
    private let stage: Stage
    let counts = LiveCounts()
    private let state = Lock(State())

    init(of manager: PressureManager, log: RunLog, on stage: Stage) {
        self.manager = manager
        self.log = log
        self.stage = stage
    }

    /// What was taken so far, by time.
    var points: [Timeline.Point] { state.withLock { $0.points } }

    /// Begins. In real time a thread takes points from now on.
    func start() {
        sample()
        guard !stage.pace.isVirtual else { return }
        state.withLock { $0.isRunning = true }
        // Without a thread there are only the points at the steps' ends.
        try? WorkerThread.spawn("timeline") { [weak self] in
            while let interval = self?.tick() { Pause.sleep(interval) }
        }
    }

    /// Takes no more points.
    func stop() { state.withLock { $0.isRunning = false } }

    private func tick() -> Duration? {
        let interval = state.withLock { $0.isRunning ? $0.interval : nil }
        if interval != nil { sample() }
        return interval
    }

    /// A step begins, or with the same number ends.
    func note(step: Int) {
        state.withLock { $0.step = step }
        sample()
    }

    /// Something happened: in virtual time that is what points are counted by.
    func noteEvent() {
        guard stage.pace.isVirtual else { return }
        let isDue = state.withLock { state in
            state.events += 1
            return state.events % state.stride == 0
        }
        if isDue { sample() }
    }

    /// What is there now. Takes time in proportion to the number of values.
    func measure() -> Timeline.Point {
        let standing = manager.standing
        let tiers = standing.tiers
        let usage = manager.spillUsage
        return Timeline.Point(
            at: log.elapsed,
            step: state.withLock { $0.step },
            level: manager.level,
            resident: tiers.resident,
            clean: tiers.clean,
            copied: standing.copied,
            reloadable: standing.reloadable,
            compressed: usage.compressed,
            spilled: tiers.spilled,
            stored: usage.stored,
            inState: manager.restoredStateBytes,
            rss: stage.machine.resident,
            accesses: counts.accesses,
            misses: counts.misses,
            neighbours: stage.neighbourhood?.held ?? []
        )
    }

    private func sample() {
        let point = measure()
        stage.neighbourhood?.tell(point.resident)
        state.withLock { state in
            // Two threads may have measured side by side.
            if let last = state.points.last, last.at > point.at { return }
            state.points.append(point)
            guard state.points.count >= Self.mostPoints else { return }
            let kept = state.points.indices.filter { $0 % 2 == 0 || $0 == state.points.count - 1 }
            state.points = kept.map { state.points[$0] }
            state.interval = state.interval * 2
            state.stride *= 2
        }
    }
}
