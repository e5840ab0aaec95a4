import PressureKit
import ScenarioLanguage

/// Makes the warnings of a scenario ask every contender for the same bytes.
///
/// A warning that states no number of bytes leaves it to the manager, and what it then asks for depends on what is in
/// memory. It gets the number that ours freed in a first run.
enum EqualGoals {
    /// A scenario that can be played by all contenders, and what could not be made equal in it.
    struct Outcome: Sendable {
        var scenario: Scenario
        /// Sentences for the report.
        var remarks: [String] = []
    }

    /// - Parameter pilot: what a run of the scenario under our order recorded.
    static func apply(to scenario: Scenario, pilot: RunRecord) -> Outcome {
        var outcome = Outcome(scenario: scenario)
        var open: [Int] = []
        for index in scenario.timeline.indices {
            let reclaims = pilot.steps.filter { $0.number == index + 1 && $0.reclaim != nil }
            let step = state(scenario.timeline[index], reclaims)
            outcome.scenario.timeline[index] = step
            if step.statesNoBytes { open.append(index + 1) }
        }
        if !open.isEmpty {
            let steps = open.map(String.init).joined(separator: ", ")
            let noun = open.count == 1 ? "step" : "steps"
            outcome.remarks.append(
                "Not of equal bytes in \(noun) \(steps): PressureKit freed nothing there, or several reclaims were one. "
                    + "State a number (freeing)."
            )
        }
        if scenario.memory.isReal {
            outcome.remarks.append(
                "Not of equal bytes where real pressure asks: how much it asks for depends on what is in memory."
            )
        }
        return outcome
    }

    /// The step with the bytes stated that were freed in it.
    private static func state(_ step: Step, _ reclaims: [RunRecord.StepRecord]) -> Step {
        var step = step
        switch step.action {
        case .warning(var spec) where spec.freeing == nil:
            // Of several with one title nobody knows which was which.
            let own = reclaims.filter { $0.title == step.title }
            guard own.count == 1, let claimed = own[0].reclaim?.claimedBytes, claimed > 0 else { return step }
            spec.freeing = .bytes(claimed)
            step.action = .warning(spec)
        case .together(let steps):
            step.action = .together(steps.map { state($0, reclaims) })
        default: break
        }
        return step
    }
}

extension Step {
    /// Whether it warns and leaves it to the manager how much is to be freed.
    fileprivate var statesNoBytes: Bool {
        switch action {
        case .warning(let spec): spec.freeing == nil
        case .together(let steps): steps.contains(where: \.statesNoBytes)
        default: false
        }
    }
}
