import Foundation
import ReportPages
import ScenarioLanguage

/// The page of a bench: every metric against its limit and its goal, now and in the runs that were kept.
struct BenchPage {
    /// Oldest first; the last one is the run that the page is about.
    let runs: [BenchRun]
    /// What an entry costs, of the last run.
    var scale: [ScaleRow] = []
    /// What was measured with, of the last run.
    var corpus = ""
    /// Whether the last run went on to its end: one that was interrupted is judged by nothing.
    var isComplete = true

    /// The page.
    ///
    /// - Precondition: there is a run.
    var page: Page {
        Page(
            title: "PressureKit against this machine",
            kicker: "pressuresim bench · \(Self.day(last)) · \(last.plan) run",
            lead: Html("p", .class("lead")) {
                "What the library reaches, next to what the machine does without it, measured in the same run on the "
                    + "same bytes."
            },
            opening: .sequence([verdict, warnings]),
            sections: [now, history, costs, reading, machine].compactMap(\.self),
            footer: ToolVersion.footer,
            generator: ToolVersion.generator
        )
    }

    private var last: BenchRun { runs[runs.count - 1] }

    // MARK: Now

    private var verdict: Html {
        guard isComplete else {
            let measured = last.metrics.count { $0.value != nil }
            return Page.verdict(
                .open,
                "Interrupted after \(measured) of \(Quantities.count(last.metrics.count, "metric"))".unbroken,
                "What is here was measured until then. No goal is held against it."
            )
        }
        let held = last.metrics.compactMap(\.holds)
        let reached = held.count(where: \.self)
        let missing = last.metrics.count - held.count
        let rest = missing > 0 ? " \(Quantities.count(missing, "metric")) could not be measured here." : ""
        let earlier = runs.count > 1 ? " \(Quantities.count(runs.count, "run")) are kept.".unbroken : ""
        return Page.verdict(
            reached == held.count ? .good : .bad,
            "\(reached) of \(held.count) goals reached",
            "A missed goal is a measurement, not a failure.\(rest)\(earlier)"
        )
    }

    private var warnings: Html {
        .group {
            if !last.machine.optimized {
                Html("p", .class("bad")) {
                    "This is a debug build: its figures mean nothing. Use swift build -c release."
                }
            }
            if last.loadBefore >= 0.5 {
                Html("p", .class("bad")) {
                    "The load average was \(Quantities.fixed(last.loadBefore, 1)) before the start: others had a part of "
                        + "the machine."
                }
            }
        }
    }

    private var now: Page.Section {
        let table = table
        return Page.Section("metrics", "Now", short: "Now") {
            if let figure = BenchBullets(run: last, table: table).figure { figure.html } else { table.html }
        }
    }

    private var table: DataTable {
        var table = DataTable(
            caption: "Every metric of the run of \(Self.day(last))",
            columns: [
                .text("Metric"), .text("Verdict"), .number("Ratio"), .number("Goal"), .number("Value"),
                .number("Limit"),
                .text("The limit is"),
            ]
        )
        for metric in BenchMetric.allCases {
            guard let result = last[metric.rawValue] else { continue }
            let verdict = (result.holds.map { $0 ? "✓ reached" : "✗ missed" } ?? "– no value")
                .replacingOccurrences(of: " ", with: "\u{A0}")
            let cells: [Html] = [
                Html("code") { metric.rawValue },
                Html("span", result.holds.map { .class($0 ? "good" : "bad") }) { verdict },
                .text(result.ratio.map(Quantities.digits) ?? "–"), .text(Self.words(metric.goal)),
                .text(result.value.map(metric.unit.text) ?? "–"), .text(result.limit.map(metric.unit.text) ?? "–"),
                .text(metric.limit),
            ]
            table.add(cells)
        }
        return table
    }

    // MARK: History

    private var history: Page.Section? { Self.history(of: BenchMetric.allCases.map(\.subject), in: runs) }

    /// What runs have reached over time, the last of them the newest; one run has no history.
    static func history(of subjects: [BenchSubject], in runs: [BenchRun]) -> Page.Section? {
        guard runs.count > 1, let last = runs.last else { return nil }
        return Page.Section("history", "From run to run", short: "History") {
            Html("p", .class("note")) {
                "Each point is a run; the dashed line is the goal, and its better side is shaded. "
                "The thin line is the median of the runs that can be compared: same processor, build and plan. "
                if runs.contains(where: { !$0.isComparable(with: last) }) { "Hollow points are from others." }
            }
            Html("div", .class("multiples")) {
                subjects.compactMap { BenchChart(subject: $0, runs: runs)?.figure.html }
            }
        }
    }

    // MARK: The rest

    private var costs: Page.Section? {
        guard !scale.isEmpty else { return nil }
        var table = DataTable(
            caption: "Cost of an entry of 8 bytes, by how many there are",
            columns: ["Entries", "Register", "Hit", "Plan", "Evict", "Restore"].map { .number($0) }
        )
        for row in scale {
            let costs = [row.register, row.hit, row.plan, row.evict, row.restore]
            table.add([Quantities.count(row.entries)] + costs.map(Quantities.duration))
        }
        return Page.Section("scale", "What an entry costs", short: "Scale") { table.html }
    }

    private var reading: Page.Section {
        Page.Section("reading", "How to read this page", short: "How to read") {
            Page.facts([
                (
                    "Limit",
                    "What the machine does without the library, measured by turns with it, so that what disturbs one "
                        + "disturbs the other."
                ),
                (
                    "Ratio",
                    "Value over limit; where the goal is a speed-up, limit over value. It says more than the value: a "
                        + "slower machine is slower at both."
                ),
                ("Value", "The median of the run's repetitions, unless the metric's name says otherwise."),
                (
                    "Two metrics",
                    "two_threads_apart and deflate_all_cores are the machine's own: far from their goal, the "
                        + "machine was busy, and what is below them has missed its goal for that reason too."
                ),
            ])
        }
    }

    private var machine: Page.Section {
        Page.Section("environment", "Where this was measured", short: "Environment") {
            Page.facts(
                [
                    ("Processor", "\(last.machine.processor), \(Quantities.count(last.machine.cores, "core"))"),
                    ("Memory", Quantities.bytes(Double(last.machine.memoryBytes))), ("System", last.machine.kernel),
                    ("zlib", last.machine.zlib), ("Build", last.machine.optimized ? "release" : "debug"),
                    ("Load before", Quantities.fixed(last.loadBefore, 2)),
                ] + (corpus.isEmpty ? [] : [("Bytes of", corpus)]) + (last.commit.map { [("Commit", $0)] } ?? [])
            )
        }
    }

    /// The day of a run.
    static func day(_ run: BenchRun) -> String { String(run.date.prefix(10)) }

    /// `"≤ 1.5"`.
    static func words(_ goal: BenchGoal) -> String {
        goal.text.replacingOccurrences(of: "<=", with: "≤").replacingOccurrences(of: ">=", with: "≥")
            .replacingOccurrences(of: " ", with: "\u{A0}")
    }
}
