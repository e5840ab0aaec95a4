import PressureKit

/// Runs a monitor as an app's manager would, and says at any moment what it sees.
final class Watcher: Sendable {
    private static let remembered = 8

    private let monitor: PressureMonitor
    private let history: History
    private let clock: any MonotonicClock
    private let start: MonotonicInstant

    /// Opens the signals and begins to watch.
    ///
    /// - Throws: `PressureError` where nothing can be watched.
    init(sources: [any SignalSource], clock: any MonotonicClock = SystemClock()) throws {
        let start = clock.now()
        let history = History()
        self.start = start
        self.history = history
        self.clock = clock
        monitor = try PressureMonitor(sources: sources, clock: clock) { decision in
            history.add(
                WatchFrame.Entry(at: clock.now() - start, cause: decision.cause, wanted: decision.reclaim?.bytes)
            )
        }
    }

    /// Begins to watch.
    ///
    /// - Throws: `PressureError` where no thread or descriptor is left.
    func begin() throws { try monitor.start() }

    /// Watches no longer.
    func end() { monitor.stop() }

    /// Has all sources read soon, whatever the monitor's own rhythm.
    func refresh() { monitor.wake() }

    /// What there is to see now.
    var frame: WatchFrame {
        WatchFrame(
            elapsed: clock.now() - start,
            level: monitor.level,
            score: monitor.score,
            headroom: monitor.headroom,
            votes: monitor.votes,
            history: history.last(Self.remembered)
        )
    }

    /// What works and what does not, source by source.
    var statuses: [SignalStatus] { monitor.statuses }

    /// What was decided since the last time this was asked.
    func news() -> [WatchFrame.Entry] { history.takeNew() }

    private final class History: Sendable {
        private struct State {
            var entries: [WatchFrame.Entry] = []
            var unprinted = 0
        }

        private let state = Lock(State())

        func add(_ entry: WatchFrame.Entry) {
            state.withLock { state in
                state.entries.append(entry)
                state.unprinted += 1
                if state.entries.count > 1000 { state.entries.removeFirst(500) }
            }
        }

        func last(_ count: Int) -> [WatchFrame.Entry] { state.withLock { Array($0.entries.suffix(count)) } }

        func takeNew() -> [WatchFrame.Entry] {
            state.withLock { state in
                defer { state.unprinted = 0 }
                return Array(state.entries.suffix(state.unprinted))
            }
        }
    }
}
