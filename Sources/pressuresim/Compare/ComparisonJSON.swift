import Foundation
import ScenarioLanguage

/// A comparison for programs. Keys are stable: new ones may come, none changes its meaning or goes.
/// `Scenarios/README.md` documents them.
struct ComparisonJSON: Encodable {
    struct ScenarioPart: Encodable {
        var name: String
        var file: String
        var seed: UInt64
    }

    struct FigurePart: Encodable {
        var value: Double?
        var unit: String
        /// Whether no contender has a better one; `null` where a difference is no merit.
        var best: Bool?

        private enum CodingKeys: CodingKey { case value, unit, best }

        /// A figure without a value is written as null, not left out.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(value, forKey: .value)
            try container.encode(unit, forKey: .unit)
            try container.encode(best, forKey: .best)
        }
    }

    struct ContenderPart: Encodable {
        var name: String
        var title: String
        var model: String
        /// Bytes freed over bytes asked for, where a number was.
        var freedOverAsked: Double?
        /// Values without a loader that had left memory: whoever can only drop had lost them.
        var onlyCopies: Int
        var lost: Int
        var failedAccesses: Int
        var figures: [String: FigurePart]
    }

    /// Goes up when a reader of the version before would misread the file.
    var formatVersion = 1
    var command = "compare"
    var scenario: ScenarioPart
    /// `real` or `virtual`.
    var clock: String
    /// Runs of each contender, of which the medians are given.
    var runs: Int
    /// Whether all contenders have played so often.
    var complete: Bool
    /// Whether readers waited least with PressureKit.
    var oursIsBest: Bool
    var verdict: String
    var remarks: [String]
    var contenders: [ContenderPart]

    init(_ report: ComparisonReport) {
        let words = ComparisonWords(report: report)
        scenario = ScenarioPart(name: report.scenario.name, file: report.file, seed: report.scenario.seed)
        clock = report.isReal ? "real" : "virtual"
        runs = report.runs
        complete = report.isComplete
        oursIsBest = report.isOursBest(.waited)
        verdict = words.verdict
        remarks = words.remarks + words.faults
        contenders = report.scores.map { score in
            let pairs = Score.Column.allCases.map { column in
                let best = column.better.map { _ in report.best(column).contains { $0.contender == score.contender } }
                return (column.rawValue, FigurePart(value: score[column], unit: column.unit, best: best))
            }
            return ContenderPart(
                name: score.contender.rawValue,
                title: score.contender.title,
                model: score.contender.model,
                freedOverAsked: score.freedOfAsked,
                onlyCopies: score.onlyCopies,
                lost: score.lost,
                failedAccesses: score.failures,
                figures: Dictionary(uniqueKeysWithValues: pairs)
            )
        }
    }
}
