import PressureKit
import ScenarioLanguage

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
        var reclaim: ReclaimRecord?
        /// The phase it belongs to; `nil` before the first.
        var phase: String?
    }

    var scenario: Scenario
    /// The scenario's path as the user gave it.
    var file: String
    var steps: [StepRecord] = []
    /// The reclaims of this life, by their manager's numbers, and the step under which each is told.
    var toldUnder: [Int: StepRecord] = [:]
    var timeline = Timeline()
    /// Whether all times are virtual: the cost model's, the same on every machine.
    var isVirtual = false
    /// Whether the run was told to end before it had come to its end: what is here is what happened until then.
    var isInterrupted = false
    var tally = AccessTally()
    /// Of those accesses, the ones in each phase, and of the caches of which anything is expected.
    var parts: [Expectation.Part: AccessTally] = [:]
    /// From the first byte copied to the release, for each value that left memory.
    var evictions = Latencies()
    /// The same by the size of the value.
    var evictionsBySize = LatencyClasses()
    var restoredAhead = 0
    var restoredAheadBytes = 0
    var restoreFailures: [String] = []
    /// Caches that came back from the saved state of an earlier life.
    var stateRestored = 0
    var values = 0
    var valueBytes = 0
    /// Resident memory of the process; `nil` where it is not measured.
    var residentAtStart: ByteCount?
    var residentAtEnd: ByteCount?
    var residentPeak: ByteCount?
    var spillFilePeak = ByteCount.zero
    /// What had left the caches' memory at the end of the timeline, whoever asked for it.
    var outflow = CacheOutflow()
    /// Of those values, the ones that no reclaim took: for a cache's own limit, for room, for a background reclaim.
    var evictedOtherwise = 0
    /// What was compressed in idle time.
    var rewritten: [Rewritten] = []
    /// What the background reclaims of all managers have freed.
    var freedInBackground = ByteCount.zero
    var notSpilledInBackground = 0
    var filled = ByteCount.zero
    /// The most that hogs held.
    var hogged = ByteCount.zero
    /// The most that was used in the cgroup the run was limited by, and how often it met its limit.
    var cgroupPeak: ByteCount?
    var cgroupHits: Int?
    /// The processes that played the same beside this one.
    var neighbours: [Neighbour] = []
    /// What those saw, in virtual time; a process of its own keeps that to itself.
    var others: [RunRecord] = []
    /// The phase that is played; `nil` before the first.
    var phase: String?
    /// Time from the first step to the end of the last; the final verification follows it.
    var duration = Duration.zero
    /// How many values the final verification compared.
    var verifiedAtEnd = 0
    /// How long it took.
    var verification = Duration.zero

    /// All reclaims, in the order in which they ended.
    var reclaims: [ReclaimRecord] { steps.compactMap(\.reclaim) }

    /// How many values these took.
    var evictedInReclaims: Int { reclaims.reduce(0) { $0 + $1.values() } }

    init(scenario: Scenario, file: String) {
        self.scenario = scenario
        self.file = file
    }
}

extension RunRecord {
    /// Reads that restored, by the size of the value.
    var restoresBySize: LatencyClasses { tally.restoresBySize }

    /// Figures that mean nothing in this run, with the reason.
    var unmeasured: [Figure: String] {
        guard isVirtual else { return [:] }
        return Dictionary(uniqueKeysWithValues: Figure.ofTheProcess.map { ($0, "not measured in virtual time") })
    }
}

extension Figure {
    /// What only a process on a real machine can tell: the resident memory of virtual time is a model's, and would agree
    /// with what the library claims because it is made of it.
    static let ofTheProcess: [Figure] = [
        .returned, .returnedOverClaimed, .rssFall, .rssFallOverClaimed, .rssStart, .rssPeak, .rssEnd, .cgroupPeak,
        .cgroupHits,
    ]
}
