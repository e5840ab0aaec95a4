import PressureKit
import ScenarioLanguage

/// A comparison on a terminal of 80 columns: a line for each figure, a column for each contender, ours first in each block.
struct ComparisonText {
    let report: ComparisonReport
    let style: Style

    /// The whole text, without a line end behind the last line.
    var text: String {
        let words = ComparisonWords(report: report)
        let verdict = report.isOursBest(.waited) ? style.good(words.verdict) : style.bad(words.verdict)
        var lines = [header, conditions, ""] + table + ["", verdict]
        lines += words.remarks.map { "· \($0)" }
        lines += words.faults.map(style.bad)
        lines += ["", style.bold("Who is who")] + legend
        return lines.joined(separator: "\n")
    }

    private var header: String {
        style.bold(report.scenario.name) + style.dim("  \(report.file), seed \(report.scenario.seed)")
    }

    /// Under what conditions they played.
    var conditions: String {
        let clock =
            report.isReal
            ? "real time, \(report.runs == 1 ? "one run each" : "medians of \(report.runs) runs each")"
            : "virtual time: the same on every machine, and each time"
        return "Same seed, same reads, same bytes to free; \(clock)."
    }

    private var table: [String] {
        blocks.flatMap { block(of: $0) + [""] } + [style.dim("* the best of its line")]
    }

    /// As many contenders as fit beside each other, ours among them each time.
    private var blocks: [[Score]] {
        let ours = report.scores.filter { $0.contender == .ours }
        let others = report.scores.filter { $0.contender != .ours }
        guard others.count > Self.mostBesideOurs else { return [report.scores] }
        return stride(from: 0, to: others.count, by: Self.mostBesideOurs).map { start in
            ours + others[start..<min(start + Self.mostBesideOurs, others.count)]
        }
    }

    private static let mostBesideOurs = 4

    private func block(of scores: [Score]) -> [String] {
        var table = TextTable([.left] + scores.map { _ in .right })
        table.add([""] + scores.map { style.bold($0.contender.shortTitle) + " " })
        for column in report.columns {
            let best = report.best(column).map(\.contender)
            table.add(
                [column.title]
                    + scores.map { score in
                        guard let value = score[column] else { return "- " }
                        let text = column.text(value)
                        return best.contains(score.contender) ? style.good("\(text)*") : "\(text) "
                    }
            )
        }
        return table.lines(fitting: style.columns, hasHeader: true).filter { !$0.isEmpty }
    }

    private var legend: [String] {
        var table = TextTable([.left, .left])
        for score in report.scores { table.add([score.contender.shortTitle, score.contender.model]) }
        return table.lines(fitting: style.columns.map { $0 - 2 }).map { "  " + $0.replacing("\n", with: "\n  ") }
    }
}
