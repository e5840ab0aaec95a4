import Foundation
import PressureKit
import ScenarioLanguage

/// The facts of a run for programs. Keys are stable: new ones may come, none changes its meaning or goes.
///
/// `Scenarios/README.md` documents them. Seconds, bytes and ratios are plain numbers; a figure that nothing was measured
/// for is `null`.
struct JSONReport: Encodable {
    struct ScenarioPart: Encodable {
        var name: String
        var description: String
        var file: String
        var seed: UInt64
    }

    struct FigurePart: Encodable {
        var value: Double?
        var unit: String

        private enum CodingKeys: CodingKey { case value, unit }

        /// A figure without a value is written as null, not left out.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(value, forKey: .value)
            try container.encode(unit, forKey: .unit)
        }
    }

    struct StepPart: Encodable {
        var number: Int?
        var title: String
        var atSeconds: Double
        var durationSeconds: Double
        var outcome: String
        var reclaim: ReclaimRecord?
        var phase: String?
    }

    struct LossPart: Encodable {
        var path: String
        var reason: String
    }

    struct ExpectationPart: Encodable {
        var expectation: String
        var line: Int
        var value: Double?
        var holds: Bool
        /// Why this run says nothing about it; absent when it does.
        var notMeasured: String?
    }

    /// One of several processes.
    struct NeighbourPart: Encodable {
        var process: Int
        var seed: UInt64
        /// `finished`, `killed` or `failed`.
        var end: String
        var lost: Int
        var meanHeldBytes: Int?
        var atSeconds: [Double]
        /// What it held then; `null` when it had ended.
        var heldBytes: [Int?]

        init(_ curve: HeldCurve, _ points: [Timeline.Point]) {
            process = curve.number
            seed = curve.seed
            end = curve.end.word
            lost = curve.lost
            meanHeldBytes = curve.mean?.bytes
            atSeconds = points.map(\.at.seconds)
            heldBytes = curve.held.map { $0?.bytes }
        }
    }

    /// Goes up when a reader of the version before would misread the file.
    var formatVersion = 1
    var passed: Bool
    /// `real` or `virtual`.
    var clock: String
    /// Whether the run was told to end before its end.
    var interrupted: Bool
    var scenario: ScenarioPart
    var figures: [String: FigurePart]
    var steps: [StepPart]
    var losses: [LossPart]
    var expectations: [ExpectationPart]
    /// All processes, the reporting one first; absent where there is only one.
    var neighbours: [NeighbourPart]?

    init(_ record: RunRecord, _ figures: Figures, _ outcomes: [Expectation.Outcome]) {
        passed =
            !record.isInterrupted && !outcomes.contains(where: \.isBroken) && record.tally.losses.isEmpty
            && record.allFinished
        clock = record.isVirtual ? "virtual" : "real"
        interrupted = record.isInterrupted
        scenario = ScenarioPart(
            name: record.scenario.name,
            description: record.scenario.description,
            file: record.file,
            seed: record.scenario.seed
        )
        let pairs = Figure.allCases.map { figure in
            (figure.rawValue, FigurePart(value: figures[figure], unit: figure.unit.rawValue))
        }
        self.figures = Dictionary(uniqueKeysWithValues: pairs)
        steps = record.steps.map { step in
            StepPart(
                number: step.number,
                title: step.title,
                atSeconds: step.start.seconds,
                durationSeconds: step.duration.seconds,
                outcome: step.outcome,
                reclaim: step.reclaim,
                phase: step.phase
            )
        }
        losses = record.tally.losses.map { LossPart(path: $0.path, reason: $0.reason) }
        let curves = record.heldByProcess
        if !curves.isEmpty { neighbours = curves.map { NeighbourPart($0, record.timeline.points) } }
        expectations = outcomes.map { outcome in
            ExpectationPart(
                expectation: outcome.expectation.text,
                line: outcome.expectation.position.line,
                value: outcome.value,
                holds: outcome.holds,
                notMeasured: outcome.notMeasured
            )
        }
    }

    /// The JSON text: keys in snake case and in order, so that two reports can be compared by eye.
    func data() throws -> Data { try CommandJSON.encode(self) }
}
