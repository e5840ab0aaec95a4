import ReportPages
import ScenarioLanguage

/// What was done, what went wrong, and what the words mean.
extension HtmlReport {
    private static let told = 12
    private static let shown = 100

    var failures: Page.Section {
        let losses = record.tally.losses.map { "\($0.path): \($0.reason)" }
        let others =
            record.neighbourComplaints + record.tally.complaints + record.reclaims.flatMap(\.failures)
            + record.restoreFailures
        return Page.Section("failures", "What went wrong", short: "Failures") {
            if losses.isEmpty, others.isEmpty { Html("p") { "Nothing failed." } }
            if !losses.isEmpty {
                Html("h3", .class("bad")) {
                    losses.count == 1 ? "1 value lost" : "\(Quantities.count(losses.count)) values lost"
                }
                list(losses)
            }
            if !others.isEmpty {
                Html("h3") { Quantities.count(others.count, "failure") }
                list(others)
            }
        }
    }

    private func list(_ lines: [String]) -> Html {
        .group {
            Html("ul") { lines.prefix(Self.told).map { line in Html("li") { line } } }
            if lines.count > Self.told {
                Html("details") {
                    Html("summary") { "\(Quantities.count(lines.count - Self.told)) more" }
                    Html("ul") { lines.dropFirst(Self.told).map { line in Html("li") { line } } }
                }
            }
        }
    }

    var steps: Page.Section? {
        let steps = Array(zip(record.steps, record.stepNumbers))
        guard !steps.isEmpty else { return nil }
        return Page.Section("steps", "Step by step", short: "Steps") {
            Html("ol", .class("steps")) { steps.prefix(Self.shown).map(step) }
            if steps.count > Self.shown {
                Html("details") {
                    Html("summary") { "\(Quantities.count(steps.count - Self.shown)) more" }
                    Html("ol", .class("steps")) { steps.dropFirst(Self.shown).map(step) }
                }
            }
        }
    }

    /// What the terminal says of a step, line by line.
    private func step(_ step: RunRecord.StepRecord, _ number: String?) -> Html {
        let account = Account(record: record, figures: figures, outcomes: outcomes, style: .plain)
        return Html("li") {
            Html("span", .class("number")) {
                if let number {
                    number
                } else {
                    Html("span", .set("aria-hidden", "true")) { "!" }
                    Html("span", .class("unseen")) { "by itself: " }
                }
            }
            Html("span", .class("when muted")) { Quantities.fixed(step.start.seconds, 2) + " s" }
            Html("div", .class("what")) {
                Html("strong") { step.title }
                if !step.outcome.isEmpty { Html("p") { step.outcome } }
                if let reclaim = step.reclaim {
                    account.lines(reclaim, indent: "").map { line in Html("p") { line } }
                }
            }
            Html("span", .class("took")) { Quantities.duration(step.duration.seconds) }
        }
    }

    var reading: Page.Section {
        Page.Section("reading", "How to read this page", short: "How to read") {
            Page.facts([
                (
                    "Reclaim",
                    "What the library does when memory is short: it chooses values that are not in use and takes them out "
                        + "of memory, cheap and safe ones first."
                ),
                ("Claimed", "The bytes of the values that left memory."),
                (
                    "Returned",
                    "By how much the process shrank meanwhile. Less than claimed: the heap kept something, or the process "
                        + "grew elsewhere. More: something else was freed too."
                ),
                (
                    "VmRSS",
                    "Resident memory as the kernel counts it: values, but also the program, its stacks and its heap. It "
                        + "stands above the areas by what is not values."
                ),
                (
                    "Has a copy",
                    "A value whose bytes are on disk, checked: it leaves memory without writing. A change ends that."
                ),
                (
                    "Has a loader",
                    "A value without a copy that its loader makes again. It is dropped where that costs less than "
                        + "writing it and reading it back, as measured by then; otherwise it is written first."
                ),
                ("p50, p99", "Half of all, and 99 of 100, took no longer than that."),
                (
                    "Latencies",
                    "From the call to the value, reading the clock included. Verifying the bytes is not in them."
                ),
                (
                    "Levels",
                    "Shaded where real pressure reached them. A simulated warning asks for a reclaim and leaves the level."
                ),
            ])
        }
    }

    var environment: Page.Section {
        Page.Section("environment", "Where this was measured", short: "Environment") {
            if record.isVirtual {
                Html("p") {
                    "Nowhere: it was played in virtual time. Its durations are those of a cost model, the same on every "
                    "machine; what only a real process can tell was not measured."
                }
            } else {
                if !machine.isOptimized {
                    Html("p", .class("bad")) { "A debug build: its times mean nothing. Use swift build -c release." }
                }
                Page.facts(machine.facts)
            }
        }
    }
}
