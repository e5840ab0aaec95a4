import Foundation
import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// Everybody is asked for the same bytes.
@Suite struct EqualGoalsTests {
    private static let timeline = """
        timeline:
          - access: {of: shelf/*}
          - warning: critical
          - warning: {level: warning, freeing: 64KiB}
          - together:
              - warning: warning
              - access: {of: shelf/*}
        """

    private static func make(_ timeline: String = timeline, memory: String = "simulated") throws -> Scenario {
        let head = smallScenario.components(separatedBy: "timeline:")[0]
        return try scenario(head + timeline + "\nmemory: \(memory)\n")
    }

    private static func pilot(_ scenario: Scenario, _ steps: [RunRecord.StepRecord]) -> RunRecord {
        var record = RunRecord(scenario: scenario, file: "small.yaml")
        record.steps = steps
        return record
    }

    private static func goals(_ steps: [Step]) -> [ByteCount?] {
        steps.flatMap { step -> [ByteCount?] in
            switch step.action {
            case .warning(let spec): [spec.freeing]
            case .together(let steps): goals(steps)
            default: []
            }
        }
    }

    @Test func warningsThatStateNoBytesGetWhatOursFreed() throws {
        let scenario = try Self.make()
        let pilot = Self.pilot(
            scenario,
            [
                .reclaim(2, title: "critical warning", asked: nil, claimed: 1000),
                .reclaim(3, title: scenario.timeline[2].title, asked: 65536, claimed: 70000),
                .reclaim(4, title: "warning", asked: nil, claimed: 500),
            ]
        )
        let outcome = EqualGoals.apply(to: scenario, pilot: pilot)
        // What the scenario states stays.
        #expect(Self.goals(outcome.scenario.timeline) == [.bytes(1000), .kibibytes(64), .bytes(500)])
        #expect(outcome.remarks.isEmpty)
    }

    @Test(
        arguments: [
            [],
            [.reclaim(2, title: "critical warning", asked: nil, claimed: 0)],
            [
                .reclaim(2, title: "critical warning", asked: nil, claimed: 9),
                .reclaim(2, title: "critical warning", asked: nil, claimed: 9),
            ],
        ] as [[RunRecord.StepRecord]]
    )
    func whatCannotBeMadeEqualIsSaid(steps: [RunRecord.StepRecord]) throws {
        let scenario = try Self.make("timeline:\n  - access: {of: shelf/*}\n  - warning: critical")
        let outcome = EqualGoals.apply(to: scenario, pilot: Self.pilot(scenario, steps))
        #expect(Self.goals(outcome.scenario.timeline) == [nil])
        #expect(outcome.remarks.count == 1)
        #expect(outcome.remarks[0].hasPrefix("Not of equal bytes in step 2:"))
    }

    @Test func realPressureAsksForWhatItWants() throws {
        let scenario = try Self.make("timeline:\n  - access: {of: shelf/*}", memory: "real")
        let outcome = EqualGoals.apply(to: scenario, pilot: Self.pilot(scenario, []))
        #expect(outcome.remarks.count == 1)
        #expect(outcome.remarks[0].contains("real pressure"))
    }
}
