import PressureKit
import ReportPages
import ScenarioLanguage

/// What became slower, larger or rarer from one run to another, and what the other way round.
struct RunDifference {
    /// A figure that both runs have.
    struct Change: Hashable {
        var figure: Figure
        var old: Double
        var new: Double

        /// New over old; infinity from nothing.
        var factor: Double { old == new ? 1 : old == 0 ? .infinity : new / old }

        /// Whether it is worse now; `nil` for figures of which neither more nor less is better.
        var isWorse: Bool? { figure.isBetterSmall.map { $0 == (new > old) } }

        /// The part by which it has changed.
        var part: Double { factor < 1 ? 1 - factor : factor - 1 }
    }

    let old: RunFacts
    let new: RunFacts
    /// Smaller changes are not told.
    var threshold = 0.05

    /// What has changed, the worst first, then the rest in the order of the figures.
    var changes: [Change] {
        Figure.allCases.compactMap { figure in
            guard let old = old[figure], let new = new[figure] else { return nil }
            let change = Change(figure: figure, old: old, new: new)
            return change.old != change.new && change.part >= threshold ? change : nil
        }
        .sorted { ($0.rank, -$0.part) < ($1.rank, -$1.part) }
    }

    /// Durations that grew by more than a part of themselves.
    func slower(than part: Double) -> [Change] {
        changes.filter { $0.figure.unit == .seconds && $0.isWorse == true && $0.part > part }
    }
}

extension RunDifference.Change {
    fileprivate var rank: Int { isWorse.map { $0 ? 0 : 1 } ?? 2 }
}

extension Figure {
    /// Whether less of it is better; `nil` where it depends.
    var isBetterSmall: Bool? {
        switch self {
        case .lost, .failedAccesses, .restoreFailures, .spillFailures, .cgroupHits, .duration: true
        case .hits, .hitRate, .restoreRate, .evictRate, .returnedOverClaimed, .rssFallOverClaimed: false
        case .loads, .restores, .spillFilePeak, .rssPeak, .rssEnd, .compressionRatio: true
        default: unit == .seconds ? true : nil
        }
    }
}

extension RunDifference {
    /// For people.
    func text(_ style: Style) -> String {
        var lines = [style.bold(old.scenario.name) + style.dim("  \(old.scenario.file) → \(new.scenario.file)")]
        lines += remarks.map(style.bad)
        var table = TextTable([.left, .right, .right, .left])
        table.add(["figure", "old", "new", "change"].map(style.bold))
        for change in changes {
            let unit = change.figure.unit
            table.add([
                change.figure.rawValue, Quantities.figure(change.old, unit), Quantities.figure(change.new, unit),
                words(change),
            ])
        }
        let told = zip([nil] + changes.map(\.isWorse), table.lines).map { isWorse, line in
            isWorse.map { $0 ? style.bad(line) : style.good(line) } ?? line
        }
        return (lines + (changes.isEmpty ? ["nothing changed by \(Quantities.percent(threshold)) or more"] : told))
            .joined(separator: "\n")
    }

    /// Such as `24 % slower`, or `3.1 times as much`.
    private func words(_ change: Change) -> String {
        let isTime = change.figure.unit == .seconds
        guard change.factor < 10 else {
            return change.old == 0 ? "from nothing" : "\(Quantities.fixed(change.factor, 0)) times"
        }
        let amount = Quantities.percent(change.part)
        return change.factor > 1 ? "\(amount) \(isTime ? "slower" : "more")" : "\(amount) \(isTime ? "faster" : "less")"
    }

    /// What makes two runs hard to compare.
    var remarks: [String] {
        var remarks: [String] = []
        if old.scenario.name != new.scenario.name { remarks.append("Not the same scenario: \(new.scenario.name).") }
        if old.scenario.seed != new.scenario.seed { remarks.append("Not the same seed: other values and reads.") }
        if old.clock != new.clock { remarks.append("One in real time, the other in virtual time.") }
        if old.interrupted || new.interrupted { remarks.append("One was interrupted.") }
        return remarks
    }
}

/// The same for programs.
struct RunDifferenceJSON: Encodable {
    struct Part: Encodable {
        var figure: String
        var unit: String
        var old: Double
        var new: Double
        /// Absent where it was nothing before.
        var factor: Double?
        var worse: Bool?
    }

    var formatVersion = 1
    var command = "diff"
    var remarks: [String]
    var changes: [Part]

    init(_ difference: RunDifference) {
        remarks = difference.remarks
        changes = difference.changes.map { change in
            Part(
                figure: change.figure.rawValue,
                unit: change.figure.unit.rawValue,
                old: change.old,
                new: change.new,
                factor: change.factor.isFinite ? change.factor : nil,
                worse: change.isWorse
            )
        }
    }
}
