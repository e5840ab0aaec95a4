import PressureKit

/// Everything that was measured while a scenario was played: the facts behind the account, the figures and the JSON.
struct RunRecord: Sendable {
    /// One step of the timeline.
    struct StepRecord: Sendable {
        /// Counts from 1; nil for what happened by itself.
        var number: Int?
        var title: String
        /// Since the timeline began.
        var start: Duration
        var duration: Duration
        /// What it did, in a few words.
        var outcome: String
        /// What it freed, if it was about that.
        var relief: ReliefRecord?
        /// The phase it belongs to; `nil` before the first.
        var phase: String?
    }

    var scenario: Scenario
    /// The scenario's path as the user gave it.
    var file: String
    var steps: [StepRecord] = []
    var timeline = Timeline()
    var tally = AccessTally()
    /// From the first byte copied to the release, for each value that left memory.
    var evictions = Latencies()
    var restoredAhead = 0
    var restoredAheadBytes = 0
    var restoreFailures: [String] = []
    /// Caches that came back from the saved state of an earlier life.
    var stateRestored = 0
    var values = 0
    var valueBytes = 0
    var residentAtStart = ByteCount.zero
    var residentAtEnd = ByteCount.zero
    var residentPeak = ByteCount.zero
    var spillFilePeak = ByteCount.zero
    var filled = ByteCount.zero
    /// The most that hogs held.
    var hogged = ByteCount.zero
    /// The most that was used in the cgroup the run was limited by, and how often it met its limit.
    var cgroupPeak: ByteCount?
    var cgroupHits: Int?
    /// The phase that is played; `nil` before the first.
    var phase: String?
    /// Time from the first step to the end of the last; the final verification follows it.
    var duration = Duration.zero
    /// How many values the final verification compared.
    var verifiedAtEnd = 0
    /// How long it took.
    var verification = Duration.zero

    /// All reliefs, in the order in which they ended.
    var reliefs: [ReliefRecord] { steps.compactMap(\.relief) }

    init(scenario: Scenario, file: String) {
        self.scenario = scenario
        self.file = file
    }
}

/// A record that several threads write to.
final class RunLog: Sendable {
    private let record: Lock<RunRecord>
    private let start = Lock<MonotonicInstant>(SystemClock().now())

    init(scenario: Scenario, file: String) { record = Lock(RunRecord(scenario: scenario, file: file)) }

    /// What was recorded so far.
    var current: RunRecord { record.withLock { $0 } }

    /// Sets the origin of all times.
    func begin() { start.withLock { $0 = SystemClock().now() } }

    /// The time since the timeline began.
    var elapsed: Duration { SystemClock().now() - start.withLock { $0 } }

    /// Changes the record.
    func change(_ body: (inout RunRecord) -> Void) { record.withLock { body(&$0) } }

    /// Adds a relief, with the latencies of the values that it evicted.
    func add(_ report: EvictionReport, number: Int?, title: String, at start: Duration, rssFall: ByteCount?) {
        let relief = ReliefRecord(report, at: start, rssFall: rssFall)
        var outcome = Quantities.count(relief.values(), "value") + " out"
        if !relief.skipped.isEmpty {
            outcome += ", \(Quantities.count(relief.skipped.reduce(0) { $0 + $1.values })) stayed"
        }
        change { record in
            for one in report.evicted {
                // Those of one cache are counted with their mean.
                let mean = (one.copyDuration + one.releaseDuration).nanoseconds / Int64(max(1, one.count))
                for _ in 0..<one.count { record.evictions.record(nanoseconds: mean) }
            }
            record.steps.append(
                .init(
                    number: number,
                    title: title,
                    start: start,
                    duration: report.duration,
                    outcome: outcome,
                    relief: relief,
                    phase: record.phase
                )
            )
        }
    }
}
