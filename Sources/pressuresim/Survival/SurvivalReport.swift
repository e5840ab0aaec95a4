import Foundation
import PressureKit
import ReportPages

/// Both processes side by side.
struct SurvivalReport {
    var plan: SurvivalPlan
    var outcomes: [Survival.Outcome]
    var style: Style

    /// Whether the one without the library was killed for memory, and the one with it did everything.
    var isAsExpected: Bool {
        outcomes.allSatisfy { $0.mode == .with ? $0.hasSurvived(plan) : $0.wasKilled }
    }

    var text: String {
        let lines = [
            style.bold("Survival") + style.dim("  \(plan.workingSet) in a cgroup of \(plan.limit), no swap"),
            "\(Quantities.count(plan.count, "value")) of \(plan.valueSize), loaded at up to \(Quantities.rate(plan.rate)) "
                + "and read back at random meanwhile",
            "",
        ]
        return (lines + outcomes.flatMap { block($0) }).joined(separator: "\n")
    }

    private func block(_ outcome: Survival.Outcome) -> [String] {
        let isGood = outcome.mode == .with ? outcome.hasSurvived(plan) : outcome.wasKilled
        let verdict = "\(outcome.mode.rawValue) PressureKit: \(verdict(outcome))"
        return [isGood ? style.good("✓ ") + verdict : style.bad("✗ \(verdict)")] + details(outcome).map { "    \($0)" }
    }

    private func verdict(_ outcome: Survival.Outcome) -> String {
        let tally = outcome.news?.tally ?? SurvivalLoad.Tally()
        let loaded = ByteCount.bytes(tally.loaded * plan.valueSize.bytes)
        if outcome.wasKilled {
            let after = Quantities.duration(outcome.news?.seconds ?? outcome.seconds)
            return "OOM-killed after \(after), with \(loaded) loaded"
        }
        if let signal = outcome.signal { return "ended by signal \(signal) with \(loaded) loaded" }
        guard outcome.status == 0, let news = outcome.news, news.isFinal else {
            let complaint = outcome.complaint.trimmingCharacters(in: .whitespacesAndNewlines)
            return "failed with \(loaded) loaded: \(complaint)"
        }
        return """
            finished in \(Quantities.duration(news.seconds)), \(Quantities.count(tally.verifiedAtEnd)) of \
            \(Quantities.count(plan.count, "value")) verified, \(tally.lost) lost
            """
    }

    private func details(_ outcome: Survival.Outcome) -> [String] {
        var lines: [String] = []
        if let peak = outcome.peak {
            let sight = outcome.fullest
            let parts = [
                (sight.anonymousBytes, "of the program's"), (sight.cacheBytes, "page cache"),
                (sight.dirtyBytes, "of that unwritten"), (sight.otherBytes, "of the kernel's"),
            ]
            let text = parts.map { "\(ByteCount.bytes($0)) \($1)" }.joined(separator: ", ")
            lines.append("the cgroup used \(peak) at most; seen at its fullest: \(text)")
        }
        if let tally = outcome.news?.tally {
            lines.append("\(Quantities.count(tally.verified, "random read")) verified while loading")
            if tally.refused + tally.refusedAtEnd > 0 {
                lines.append(
                    """
                    the disk was gone: \(Quantities.count(tally.refused, "random read")) and, at the end, \
                    \(Quantities.count(tally.refusedAtEnd, "value")) refused by name
                    """
                )
            }
            lines += tally.losses.map(style.bad)
        }
        guard let part = outcome.news?.library else { return lines }
        let longest = part.reclaims > 0 ? ", the longest took \(Quantities.duration(part.longestReclaimSeconds))" : ""
        lines.append(
            """
            \(Quantities.count(part.reclaims, "reclaim"))\(longest), and \
            \(part.batches == 1 ? "1 batch" : "\(Quantities.count(part.batches)) batches") in the background; \
            \(Quantities.count(part.evictions, "eviction")), \(Quantities.count(part.restores, "restore")), \
            \(Quantities.count(part.loads, "load"))
            """
        )
        if let cause = part.firstCause { lines.append("first: \(cause)") }
        if part.spillFailures > 0 {
            lines.append("\(Quantities.count(part.spillFailures, "spill")) failed, as reported")
        }
        return lines + part.failures.map(style.bad)
    }
}

/// The same for programs.
struct SurvivalJSON: Encodable {
    struct Part: Encodable {
        var mode: String
        var survived: Bool
        var oomKilled: Bool
        var exitStatus: Int32?
        var signal: Int32?
        var seconds: Double
        var loadedBytes: Int
        var peakBytes: Int?
        var limitHits: Int?
        var fullest: SurvivalObserver.Sight
        var news: SurvivalNews?
    }

    var formatVersion = 1
    var command = "survive"
    var passed: Bool
    var limitBytes: Int
    var workingSetBytes: Int
    var values: Int
    var rate: Double
    var processes: [Part]

    init(_ report: SurvivalReport) {
        let plan = report.plan
        passed = report.isAsExpected
        limitBytes = plan.limit.bytes
        workingSetBytes = plan.workingSet.bytes
        values = plan.count
        rate = plan.rate
        processes = report.outcomes.map { outcome in
            Part(
                mode: outcome.mode.rawValue,
                survived: outcome.hasSurvived(plan),
                oomKilled: outcome.wasKilled,
                exitStatus: outcome.status,
                signal: outcome.signal,
                seconds: outcome.seconds,
                loadedBytes: (outcome.news?.tally.loaded ?? 0) * plan.valueSize.bytes,
                peakBytes: outcome.peak?.bytes,
                limitHits: outcome.hits,
                fullest: outcome.fullest,
                news: outcome.news
            )
        }
    }
}
