import PressureKit
import ScenarioLanguage

/// What a comparison found, and what it means.
struct ComparisonReport: Sendable {
    var scenario: Scenario
    var file: String
    var isReal: Bool
    var runs: Int
    /// How many runs there were to be.
    var wanted: Int
    /// How many there were.
    var played = 0
    /// One for each contender that has played, in their order.
    var scores: [Score]
    /// What else a reader has to know.
    var remarks: [String]

    /// How far the runs of one contender were apart in ``Score/Column/waited``, over their median: the most of all
    /// contenders. `nil` with one run each.
    var spread: Double?

    /// Whether all have played.
    var isComplete: Bool { played == wanted }

    /// Whether something went wrong that the library answers for.
    var hasFailed: Bool { scores.contains { $0.lost > 0 || $0.failures > 0 } }

    /// Of PressureKit as it is.
    var ours: Score? { scores.first { $0.contender == .ours } }

    /// The columns that anything was measured for.
    var columns: [Score.Column] { Score.Column.allCases.filter { column in scores.contains { $0[column] != nil } } }

    /// The contenders with the best value of a column: several where the table shows them equal. None where all are.
    func best(_ column: Score.Column) -> [Score] {
        guard let better = column.better, scores.count > 1 else { return [] }
        let known = scores.compactMap { score in score[column].map { (score, $0) } }
        guard let best = better == .less ? known.map(\.1).min() : known.map(\.1).max() else { return [] }
        let winners = known.filter { column.text($0.1) == column.text(best) }
        return winners.count < known.count ? winners.map(\.0) : []
    }

    /// Whether ours is the best of a column, or one of them, or all are equal.
    func isOursBest(_ column: Score.Column) -> Bool {
        let best = best(column)
        return best.isEmpty || best.contains { $0.contender == .ours }
    }
}
