import Foundation
import PressureKit
import ReportPages

/// What the soak came to.
struct SoakReport {
    var plan: SoakPlan
    var outcome: Soak.Outcome
    /// Whether it was interrupted: then it is told, and nothing is judged.
    var isCutShort = false
    var style: Style = .plain

    /// One thing that is expected, and what was found.
    struct Verdict: Hashable {
        /// `nil` if it is not judged.
        var holds: Bool?
        var text: String

        /// In a word.
        var word: String {
            switch holds {
            case true?: "holds"
            case false?: "fails"
            case nil: "not judged"
            }
        }
    }

    /// Whether all that is judged holds; `nil` when nothing is.
    var isAsExpected: Bool? { isCutShort ? nil : !verdicts.contains { $0.holds == false } }

    /// All that is expected.
    var verdicts: [Verdict] {
        isCutShort ? judged.map { Verdict(holds: nil, text: $0.text) } : judged
    }

    private var judged: [Verdict] {
        var verdicts = [ending, kills, losses, work]
        if let hadNeighbour = outcome.hadNeighbour {
            verdicts.append(
                Verdict(holds: hadNeighbour, text: "neighbour: \(hadNeighbour ? "to the end" : "has ended")")
            )
        }
        guard plan.seconds >= SoakDrift.leastSeconds else {
            let least = Quantities.duration(SoakDrift.leastSeconds)
            let text = "drift: not judged in less than \(least), which would be noise"
            return verdicts + [Verdict(holds: nil, text: text)]
        }
        guard let drifts = SoakDrift.judge(outcome.windows, limit: .bytes(plan.limitBytes)) else {
            let count = Quantities.count(outcome.windows.count, "window")
            return verdicts + [Verdict(holds: false, text: "drift: \(count) say nothing")]
        }
        return verdicts + drifts.map(drift)
    }

    private var ending: Verdict {
        guard let news = outcome.news, news.isFinal, outcome.status == 0 else {
            if isCutShort { return Verdict(holds: nil, text: "what it held was not compared at the end") }
            let seconds = Quantities.duration(outcome.news?.seconds ?? 0)
            let complaint = outcome.complaint.trimmingCharacters(in: .whitespacesAndNewlines)
            return Verdict(
                holds: false,
                text: "the process ended after \(seconds)\(complaint.isEmpty ? "" : ": \(complaint)")"
            )
        }
        let all = Quantities.count(plan.count, "value")
        return Verdict(
            holds: news.tally.rightAtEnd == plan.count,
            text: "at the end \(Quantities.count(news.tally.rightAtEnd)) of \(all) right"
        )
    }

    private var kills: Verdict {
        Verdict(holds: outcome.kills == 0, text: "OOM kills: \(outcome.kills.map { "\($0)" } ?? "unknown")")
    }

    private var losses: Verdict {
        let tally = outcome.news?.tally ?? SoakLoad.Tally()
        let losses = tally.losses.map { "; \($0)" }.joined()
        return Verdict(holds: tally.lost == 0, text: "lost or wrong: \(tally.lost)\(losses)")
    }

    /// A soak in which nothing happened shows nothing.
    private var work: Verdict {
        let news = outcome.news ?? SoakNews(seconds: 0, tally: SoakLoad.Tally())
        let counts = [
            (news.tally.reads, "read"), (news.tally.changes, "change"), (news.scenes, "stay"),
            (news.saves, "saved state"),
            (news.library?.reclaims ?? 0, "reclaim"), (news.library?.evictions ?? 0, "eviction"),
            (news.library?.restores ?? 0, "restore"),
        ]
        return Verdict(
            holds: counts.allSatisfy { $0.0 > 0 },
            text: counts.map { Quantities.count($0.0, $0.1) }.joined(separator: ", ")
                .replacingOccurrences(of: "stay", with: "background stay")
        )
    }

    private func drift(_ drift: SoakDrift) -> Verdict {
        let sign = drift.growth < 0 ? "−" : "+"
        return Verdict(
            holds: drift.isTolerated,
            text: """
                \(drift.measure.rawValue): \(Self.quantity(drift.level, drift.measure)), \
                \(sign)\(Self.quantity(abs(drift.growth), drift.measure)) since the first quarter \
                (+\(Self.quantity(drift.tolerance, drift.measure)) tolerated)
                """
        )
    }

    private static func quantity(_ value: Double, _ measure: SoakDrift.Measure) -> String {
        switch measure {
        case .resident, .heap, .spillFile: Quantities.bytes(value)
        case .descriptors: Quantities.fixed(value, 1)
        case .restore: Quantities.duration(value)
        }
    }

    // MARK: As text

    /// Rows of the table: windows are put together until there are no more than so many.
    private static let mostRows = 12

    var text: String {
        let plan = plan
        let held = ByteCount.bytes(plan.count * plan.valueBytes)
        var lines = [
            style.bold("Soak")
                + style.dim("  \(held) in a cgroup of \(ByteCount.bytes(plan.limitBytes)), no swap, for ")
                + style.dim(Quantities.duration(plan.seconds)),
            "",
        ]
        lines += table + [""]
        if isCutShort {
            let seconds = Quantities.duration(outcome.news?.seconds ?? 0)
            lines.append("interrupted after \(seconds): nothing is judged")
        }
        for verdict in verdicts {
            switch verdict.holds {
            case true?: lines.append(style.good("✓ ") + verdict.text)
            case false?: lines.append(style.bad("✗ \(verdict.text)"))
            case nil: lines.append("  \(verdict.text)")
            }
        }
        if let peak = outcome.peak { lines.append("  the cgroup used \(peak) at most") }
        if let part = outcome.news?.library {
            lines.append("  the longest reclaim took \(Quantities.duration(part.longestReclaimSeconds))")
            lines += part.failures.map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// Each row the medians of some windows, and the longest restore of all of them.
    private var table: [String] {
        var table = TextTable(Array(repeating: .right, count: 10))
        table.add(
            [
                "after", "resident", "heap", "descriptors", "spill file", "restores", "median", "99 %", "longest",
                "machine's load",
            ]
        )
        let windows = outcome.windows
        let step = max((windows.count + Self.mostRows - 1) / Self.mostRows, 1)
        for start in stride(from: 0, to: windows.count, by: step) {
            let some = windows[start..<min(start + step, windows.count)]
            func median(_ part: (SoakWindow) -> Double?) -> Double? { Robust.median(some.compactMap(part)) }
            func duration(_ seconds: Double?) -> String { seconds.map(Quantities.duration) ?? "" }
            table.add([
                Quantities.duration(some.last?.seconds ?? 0),
                Quantities.bytes(median(\.residentBytes) ?? 0),
                Quantities.bytes(median(\.heapBytes) ?? 0),
                Quantities.fixed(median(\.descriptors) ?? 0, 0),
                Quantities.bytes(median(\.spillBytes) ?? 0),
                Quantities.count(some.reduce(0) { $0 + $1.restores.count }),
                duration(median(\.restores.median)),
                duration(median(\.restores.high)),
                duration(some.compactMap(\.restores.longest).max()),
                Quantities.fixed(median(\.machineLoad) ?? 0, 1),
            ])
        }
        return table.lines
    }
}

/// The same for programs.
struct SoakJSON: Encodable {
    var formatVersion = 1
    var command = "soak"
    /// `nil` when it was interrupted.
    var passed: Bool?
    var plan: SoakPlan
    var verdicts: [String]
    var exitStatus: Int32?
    var oomKills: Int?
    var peakBytes: Int?
    var news: SoakNews?
    var windows: [SoakWindow]

    init(_ report: SoakReport) {
        passed = report.isAsExpected
        plan = report.plan
        verdicts = report.verdicts.map { "\($0.word): \($0.text)" }
        exitStatus = report.outcome.status
        oomKills = report.outcome.kills
        peakBytes = report.outcome.peak?.bytes
        news = report.outcome.news
        windows = report.outcome.windows
    }
}
