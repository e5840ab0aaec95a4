import PressureKit
import ReportPages
import ScenarioLanguage

/// The page of a run: what was expected, what happened to memory, what it cost whom, and how to read all that.
struct HtmlReport {
    let record: RunRecord
    let figures: Figures
    let outcomes: [Expectation.Outcome]
    let machine: PageMachine

    /// The page.
    var page: Page {
        Page(
            title: record.scenario.name,
            kicker: "pressuresim run · \(record.file) · seed \(record.scenario.seed)",
            lead: lead,
            opening: .sequence([verdict, checks, tiles]),
            sections: [
                memory, reclaims, latencies, caches, stayed, failures, steps, reading, environment,
            ].compactMap(\.self),
            footer: ToolVersion.footer,
            generator: ToolVersion.generator
        )
    }

    private var lead: Html {
        let size = Quantities.bytes(Double(record.valueBytes))
        let duration = Quantities.duration(record.duration.seconds)
        return .group {
            if !record.scenario.description.isEmpty { Html("p", .class("lead")) { record.scenario.description } }
            Html("p", .class("muted")) {
                "\(Quantities.count(record.values, "value")), \(size), \(Quantities.count(stepCount, "step")), "
                    .unbroken
                "played in \(duration)\(record.isVirtual ? " of virtual time" : "")."
            }
        }
    }

    private var stepCount: Int { record.steps.compactMap(\.number).max() ?? 0 }

    // MARK: Verdict

    private var verdict: Html {
        let lost = Int(figures[.lost] ?? 0)
        let broken = outcomes.count(where: \.isBroken)
        let unmeasured = outcomes.count { $0.notMeasured != nil }
        let tested = outcomes.count - unmeasured
        let title =
            if lost > 0 {
                "\(Quantities.count(lost, "value")) lost"
            } else if record.isInterrupted {
                "Interrupted after \(Quantities.count(stepCount, "step"))".unbroken
            } else if !record.allFinished {
                record.unfinished
            } else if broken > 0 {
                "\(Quantities.count(broken, "expectation")) of \(tested) failed"
            } else if tested == 0 {
                "Nothing was lost"
            } else {
                tested == 1 ? "The expectation holds" : "All \(tested) expectations hold"
            }
        var text =
            record.isInterrupted
            ? "What is here happened until then. No expectation is held against it."
            : "\(Quantities.count(record.verifiedAtEnd, "value")) compared byte for byte with the source at the end: "
                + "\(lost == 0 ? "none" : Quantities.count(lost)) lost."
        if unmeasured > 0, !record.isInterrupted { text += " \(unmeasured) more cannot be told in virtual time." }
        let verdict: Page.Verdict =
            lost > 0 ? .bad : record.isInterrupted ? .open : broken == 0 && record.allFinished ? .good : .bad
        return Page.verdict(verdict, title, text)
    }

    private var checks: Html {
        if outcomes.isEmpty { return .nothing }
        return Html("ul", .class("checks"), .set("aria-label", "Expectations")) {
            outcomes.map { outcome in
                let (sign, word, tone) = Self.sign(of: outcome)
                return Html("li") {
                    Html("span", .class(tone)) {
                        Html("span", .set("aria-hidden", "true")) { sign }
                        Html("span", .class("unseen")) { "\(word): " }
                    }
                    Html("code") { outcome.expectation.text }
                    Html("span", .class("measured")) {
                        outcome.notMeasured ?? outcome.value.map {
                            Quantities.figure($0, outcome.expectation.figure.unit)
                        } ?? "never measured"
                    }
                }
            }
        }
    }

    private static func sign(of outcome: Expectation.Outcome) -> (sign: String, word: String, tone: String) {
        if let reason = outcome.notMeasured {
            return ("–", reason == "interrupted" ? "not judged" : "not measured", "muted")
        }
        return outcome.holds ? ("✓", "holds", "good") : ("✗", "failed", "bad")
    }

    private var tiles: Html {
        var tiles: [Page.Tile] = []
        func add(_ title: String, _ value: Double?, _ text: (Double) -> String, _ aside: String?) {
            if let value { tiles.append(.init(title: title, figure: text(value), aside: (aside ?? "").unbroken)) }
        }
        let returned = figures[.returnedOverClaimed].map { "\(Quantities.percent($0)) of it came back" }
        let restores = Quantities.count(Int(figures[.restores] ?? 0), "restore")
        add("Claimed", figures[.claimed].flatMap { $0 > 0 ? $0 : nil }, Quantities.bytes, returned)
        add("Restore, p50", figures[.restoreP50], Quantities.duration, restores)
        let worst = figures[.restoreMax].map { "at most \(Quantities.duration($0))" }
        add("Restore, p99", figures[.restoreP99], Quantities.duration, worst)
        let evicted = Quantities.count(Int(figures[.evicted] ?? 0), "value")
        add("Eviction, p99", figures[.evictP99], Quantities.duration, evicted)
        let accesses = figures[.accesses] ?? 0
        let hits = accesses > 0 ? (figures[.hits] ?? 0) / accesses : nil
        add("Found in memory", hits, Quantities.percent, "of \(Quantities.count(Int(accesses), "read"))")
        add("Written as", figures[.compressionRatio], Quantities.percent, spillPeak)
        return Page.tiles(tiles)
    }

    private var spillPeak: String? {
        figures[.spillFilePeak].map { "of the size; file at most \(Quantities.bytes($0))" }
    }
}
