import PressureKit
import ScenarioLanguage

/// Plays one scenario under every contender: same seed, same accesses, same bytes to free.
struct Comparison: Sendable {
    var scenario: Scenario
    /// The scenario's path as the user gave it.
    var file: String
    /// Whether time and memory are this machine's.
    var isReal: Bool
    /// How often each contender plays; the median of each figure counts.
    var runs = 1
    var contenders = Contender.allCases
    var progress: Progress = .quiet
    /// Ends it early.
    var stop = StopSignal()
    private let board = Scoreboard()

    /// Suspends until all have played, or it is told to stop. Returns `nil` when it is before anybody has played.
    ///
    /// - Throws: ``EnvironmentRefusal`` when this machine cannot play the scenario.
    func run() async throws -> ComparisonReport? {
        if isReal, scenario.processes > 1 {
            throw EnvironmentRefusal(
                message: """
                    The scenario is for \(scenario.processes) processes, and real ones would each answer pressure in the \
                    library's own way. Compare in virtual time, without --real, or one process of it: --set processes=1.
                    """
            )
        }
        var scenario = scenario
        scenario.expectations = []
        var remarks: [String] = []
        if scenario.dropRelaunches() {
            remarks.append("The relaunches were left out: a killed process takes its figures with it.")
        }
        progress.begin("as the scenario has it")
        let pilot = try await play(Entrant(.ours), scenario)
        guard !pilot.isInterrupted else { return nil }
        let goals = EqualGoals.apply(to: scenario, pilot: pilot)
        board.begin(report(scores: [], remarks: remarks + goals.remarks))
        // Round after round, so that what changes on the machine meanwhile meets all of them.
        for round in 1...max(runs, 1) {
            for contender in contenders {
                progress.begin(runs > 1 ? "\(contender.title), \(round) of \(runs)" : contender.title)
                progress.advance(to: board.played, of: contenders.count * max(runs, 1))
                let entrant = Entrant(contender)
                let record = try await play(entrant, goals.scenario)
                guard !record.isInterrupted else { return board.soFar.flatMap { $0.scores.isEmpty ? nil : $0 } }
                board.add(Score(entrant, record, isReal: isReal))
            }
        }
        return board.soFar
    }

    private func play(_ entrant: Entrant, _ scenario: Scenario) async throws -> RunRecord {
        let stage: Stage = isReal ? .real(seed: scenario.seed, stop: stop) : .virtual(seed: scenario.seed, stop: stop)
        var simulation = Simulation(scenario, file: file, stage: stage)
        simulation.entrant = entrant
        return try await simulation.run()
    }

    private func report(scores: [Score], remarks: [String]) -> ComparisonReport {
        ComparisonReport(
            scenario: scenario,
            file: file,
            isReal: isReal,
            runs: max(runs, 1),
            wanted: contenders.count * max(runs, 1),
            scores: scores,
            remarks: remarks
        )
    }
}

/// The scores of a comparison under way.
private final class Scoreboard: Sendable {
    private struct State {
        var report: ComparisonReport?
        var scores: [Score] = []
    }

    private let state = Lock(State())

    /// What all scores so far come to. `nil` before the first contender has begun.
    var soFar: ComparisonReport? {
        state.withLock { state in
            guard var report = state.report else { return nil }
            report.scores = Contender.allCases.compactMap { contender in
                Score(medianOf: state.scores.filter { $0.contender == contender })
            }
            report.played = state.scores.count
            report.spread = Score.spread(state.scores)
            return report
        }
    }

    /// How many runs are done.
    var played: Int { state.withLock { $0.scores.count } }

    /// Everything but the scores is known.
    func begin(_ report: ComparisonReport) { state.withLock { $0.report = report } }

    /// One run is done.
    func add(_ score: Score) { state.withLock { $0.scores.append(score) } }
}

extension Scenario {
    /// Takes the `relaunch` steps out.
    ///
    /// - Returns: whether there were any.
    fileprivate mutating func dropRelaunches() -> Bool {
        let count = timeline.count
        timeline.removeAll { if case .relaunch = $0.action { true } else { false } }
        return timeline.count < count
    }
}
