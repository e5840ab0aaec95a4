import PressureKit
import ReportPages

/// A comparison in sentences: who is best, above all where that is not PressureKit.
struct ComparisonWords {
    let report: ComparisonReport

    /// What counts: how long readers wait.
    var verdict: String {
        guard let ours = report.ours, let waited = ours[.waited] else { return "PressureKit has not been played yet." }
        let rivals = report.scores.filter { $0.contender != .ours && $0[.waited] != nil }
        guard let rival = rivals.min(by: { $0[.waited] ?? 0 < $1[.waited] ?? 0 }), let least = rival[.waited] else {
            return
                "Readers waited \(Score.Column.waited.text(waited)) with PressureKit; nobody else has been played yet."
        }
        let (our, their) = (Score.Column.waited.text(waited), Score.Column.waited.text(least))
        if waited == 0, least == 0 { return "Nobody waited: nothing was read again after it had left memory." }
        if our == their {
            return "Readers wait as long with PressureKit as with \(rival.name), the best other: \(our)."
        }
        guard waited > least else {
            return
                "Readers wait least with PressureKit: \(our). Next is \(rival.name) with \(their)\(more(least, waited))."
        }
        var text = "PressureKit is not the best here: readers wait \(our), "
        text += "\(excess(waited, least)) with \(rival.name) (\(their))."
        if let setting = rival.contender.setting { text += " An app gets that order with \(setting)." }
        return text
    }

    /// The same below a heading that says whether ours is the best.
    var verdictDetail: String {
        let heading = "PressureKit is not the best here: "
        return verdict.hasPrefix(heading) ? String(verdict.dropFirst(heading.count)).capitalizedFirst : verdict
    }

    /// The other columns in which somebody else is better; `nil` if there are none.
    var otherDefeats: String? {
        guard let ours = report.ours else { return nil }
        let parts = report.columns.filter { $0 != .waited && !report.isOursBest($0) }.compactMap { column -> String? in
            guard let own = ours[column], let winner = report.best(column).first, let value = winner[column] else {
                return nil
            }
            return "\(column.title) (\(column.text(own)); \(winner.name) \(column.text(value)))"
        }
        return parts.isEmpty ? nil : "Others are better in: \(parts.joined(separator: ", "))."
    }

    /// What separates PressureKit from those who bring bytes back from one place only: which waiting is another, and by how
    /// much, where that is more than a twentieth of all.
    var separations: [String] {
        guard let ours = report.ours, let waited = ours[.waited] else { return [] }
        return report.scores.filter { [.lruDropped, .lruSpilled].contains($0.contender) }.compactMap { score in
            guard let all = score[.waited], abs(all - waited) > 0.05 * max(all, waited) else { return nil }
            let parts = [(Score.Column.restoreStall, "values to be read back"), (.reloadCost, "loaders")]
            let most = parts.compactMap { column, what -> (Score.Column, String, Double, Double)? in
                guard let own = ours[column], let other = score[column] else { return nil }
                return (column, what, own, other)
            }.max { abs($0.3 - $0.2) < abs($1.3 - $1.2) }
            guard let (column, what, own, other) = most else { return nil }
            let (mine, theirs) = (column.text(own), column.text(other))
            return "What separates \(score.name) from PressureKit: waiting for \(what), \(theirs) against \(mine)."
        }
    }

    /// What real time is worth; `nil` in virtual time, where nothing is chance.
    var chance: String? {
        guard report.isReal, !report.scores.isEmpty else { return nil }
        if let spread = report.spread {
            return
                "Runs of one order waited up to \(Quantities.percent(spread)) more or less: what differs less is chance."
        }
        if report.runs > 1 {
            return "Real time: what else the machine did is in the figures; small differences are chance."
        }
        return "Real time, one run each: what else the machine did is in the figures. Use --runs, or leave out --real."
    }

    /// Who did not free what was asked for, and so is not compared like with like.
    var unequal: [String] {
        report.scores.compactMap { score in
            guard let share = score.freedOfAsked, abs(share - 1) > 0.05 else { return nil }
            let percent = Quantities.percent(share)
            return score.contender == .purge
                ? "\(score.name.capitalizedFirst) frees \(percent) of what is asked for, by its nature."
                : "\(score.name.capitalizedFirst) freed \(percent) of what was asked for: not like with like."
        }
    }

    /// What the ones that only drop would have lost.
    var onlyCopies: [String] {
        report.scores.filter { $0.onlyCopies > 0 }.map { score in
            let values = Quantities.count(score.onlyCopies, "value")
            return """
                \(score.name.capitalizedFirst) would have lost \(values) that no loader makes: it only drops. Here they were \
                spilled, and waiting for them is in its figures.
                """
        }
    }

    /// What the library answers for.
    var faults: [String] {
        report.scores.flatMap { score in
            [(score.lost, "LOST"), (score.failures, "failed reads")].filter { $0.0 > 0 }.map { count, what in
                "\(score.name): \(Quantities.count(count)) \(what)"
            }
        }
    }

    /// All sentences but the verdict and the faults.
    var remarks: [String] {
        var lines = [chance, otherDefeats].compactMap(\.self) + separations + unequal + onlyCopies + report.remarks
        if !report.isComplete {
            lines.append("Interrupted: \(report.played) of \(report.wanted) runs were played.")
        }
        return lines
    }

    private func more(_ value: Double, _ than: Double) -> String {
        than > 0 ? " (\(excess(value, than, "")))" : ""
    }

    /// `"17.0 % longer than"`, `"3.20 times as long as"`.
    private func excess(_ value: Double, _ than: Double, _ link: String? = nil) -> String {
        func linked(_ text: String, _ word: String) -> String { link == nil ? "\(text) \(word)" : text }
        guard than > 0 else { return linked("longer", "than") }
        let ratio = value / than
        return ratio < 2
            ? linked("\(Quantities.fixed((ratio - 1) * 100, 1)) % longer", "than")
            : linked("\(Quantities.digits(ratio)) times as long", "as")
    }
}

extension Score {
    /// What sentences call it.
    var name: String { contender.title }
}

extension String {
    /// The same with a capital letter, for the beginning of a sentence.
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
