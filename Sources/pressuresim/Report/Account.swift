import PressureKit
import ReportPages
import ScenarioLanguage

/// The account of a run: what happened, what it cost, whether it was as expected, on one screen.
struct Account {
    let record: RunRecord
    let figures: Figures
    let outcomes: [Expectation.Outcome]
    let style: Style

    /// How many lines of one kind are told before the rest is only counted.
    private static let fewest = 4

    /// The whole text, without a line end behind the last line.
    var text: String {
        var lines = header
        lines += section("What happened", timeline)
        lines += section("Latency", latencies)
        lines += section("Memory", memory)
        if !problems.isEmpty { lines += section("What went wrong", problems) }
        if !outcomes.isEmpty { lines += section("Expected", expectations) }
        lines += ["", verdict]
        return lines.joined(separator: "\n")
    }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        ["", style.bold(title)] + lines.map { "  " + $0.replacing("\n", with: "\n  ") }
    }

    /// The columns that a section's lines have.
    private var room: Int? { style.columns.map { max($0 - 2, 1) } }

    private var header: [String] {
        let size = Quantities.bytes(Double(record.valueBytes))
        let values = Quantities.count(record.values, "value")
        return [
            style.bold(record.scenario.name) + style.dim("  \(record.file), seed \(record.scenario.seed)"),
            "\(values), \(size); played in \(Quantities.duration(record.duration.seconds))"
                // There, comparing takes no time.
                + (record.isVirtual
                    ? " of virtual time" : ", verified in \(Quantities.duration(record.verification.seconds))"),
        ]
    }

    // MARK: What happened

    private var timeline: [String] {
        var table = TextTable([.right, .right, .left, .right, .left])
        for (step, number) in zip(record.steps, record.stepNumbers) {
            table.add([
                number ?? "!",
                Quantities.fixed(step.start.seconds, 2) + " s",
                step.title,
                Quantities.duration(step.duration.seconds),
                step.outcome,
            ])
        }
        // The lines of a reclaim follow its step, so that cause and effect stand together.
        return zip(record.steps, table.lines(fitting: room)).flatMap { step, line in
            [line] + (step.reclaim.map { lines($0) } ?? [])
        }
    }

    /// What a reclaim did, a line for each way out and each reason to stay. The page tells the same.
    func lines(_ reclaim: ReclaimRecord, indent: String = "            ") -> [String] {
        var lines = [style.dim("\(indent)why: \(reclaim.cause)")]
        for outcome in EvictionReport.Outcome.allCases {
            let groups = reclaim.evicted.filter { $0.outcome == outcome.rawValue }
            guard !groups.isEmpty else { continue }
            let bytes = Quantities.bytes(Double(groups.reduce(0) { $0 + $1.bytes }))
            let stored = groups.reduce(0) { $0 + $1.storedBytes }
            let place = outcome == .compressed ? "in memory" : "on disk"
            let copies = stored > 0 ? " in \(Quantities.bytes(Double(stored))) \(place)" : ""
            var names = groups.prefix(Self.fewest).map { "\(Quantities.count($0.values)) \(name($0, in: reclaim))" }
            if groups.count > names.count {
                names.append("and \(Quantities.count(groups.count - names.count, "more kind"))")
            }
            lines.append("\(indent)\(outcome) \(bytes)\(copies): \(names.joined(separator: ", "))")
        }
        if reclaim.claimedBytes > 0 {
            let share = Double(reclaim.returnedBytes) / Double(reclaim.claimedBytes)
            var line = "\(indent)claimed \(Quantities.bytes(Double(reclaim.claimedBytes)))"
            if !record.isVirtual {
                line += ", returned \(Quantities.bytes(Double(reclaim.returnedBytes))) (\(Quantities.percent(share)))"
            }
            if let fall = reclaim.rssFallBytes { line += ", VmRSS fell by \(Quantities.bytes(Double(fall)))" }
            lines.append(line)
        }
        for skip in reclaim.skipped {
            let bytes = Quantities.bytes(Double(skip.bytes))
            lines.append(
                "\(indent)stayed: \(Quantities.count(skip.values, "value")), \(bytes): \(EvictionReport.SkipReason.words(skip.reason))"
            )
        }
        return lines
    }

    /// The last part of a group's path, or all of it where that would not tell it from another one.
    private func name(_ group: ReclaimRecord.Group, in reclaim: ReclaimRecord) -> String {
        func last(_ path: String) -> Substring { path.split(separator: "/").last ?? "" }
        let rivals = reclaim.evicted.contains { $0.path != group.path && last($0.path) == last(group.path) }
        return rivals ? group.path : String(last(group.path))
    }

    // MARK: Figures

    private var latencies: [String] {
        var table = TextTable([.left, .right, .right, .right, .right])
        table.add(["", "count", "p50", "p99", "max"])
        func add(_ name: String, _ latencies: Latencies?) {
            guard let latencies, latencies.count > 0 else { return }
            let columns = [50, 99, 100].map { latencies.percentile($0).map(Quantities.duration) ?? "" }
            table.add([name, Quantities.count(latencies.count)] + columns)
        }
        add("read, in memory", record.tally.latencies[.hit])
        add("read, loaded", record.tally.latencies[.load])
        add("read, restored", record.tally.latencies[.restore])
        add("evict one value", record.evictions)
        return table.lines(fitting: room, hasHeader: true).filter { !$0.isEmpty }
    }

    private var memory: [String] {
        func bytes(_ figure: Figure) -> String { Quantities.bytes(figures[figure] ?? 0) }
        func percent(_ figure: Figure) -> String { figures[figure].map { " (\(Quantities.percent($0)))" } ?? "" }
        var lines = [
            "claimed \(bytes(.claimed)), "
                + (figures[.returned] == nil
                    ? "returned \(record.isVirtual ? "not measured in virtual time" : "nothing")"
                    : "returned \(bytes(.returned))\(percent(.returnedOverClaimed))")
                + (figures[.rssFall].map { ", VmRSS fell by \(Quantities.bytes($0))\(percent(.rssFallOverClaimed))" }
                    ?? "")
        ]
        if record.evictedOtherwise > 0 {
            lines.append(
                "\(Quantities.count(record.evictedOtherwise, "value")) left memory without a reclaim: for a cache's own "
                    + "limit, for room, or in the background"
            )
        }
        if record.freedInBackground > .zero {
            lines.append("\(bytes(.freedInBackground)) freed in the background, to stay below the limit")
        }
        if let words = record.neighbourWords { lines.append(words) }
        if let copies { lines.append(copies) }
        lines += record.rewritten.prefix(Self.fewest).map(\.words)
        var rates: [String] = []
        if let rate = figures[.evictRate] { rates.append("eviction \(Quantities.rate(rate))") }
        if let rate = figures[.restoreRate] { rates.append("restore \(Quantities.rate(rate)) a reader") }
        if !rates.isEmpty { lines.append(rates.joined(separator: ", ")) }
        if figures[.rssStart] != nil {
            lines.append(
                "resident \(bytes(.rssStart)) at the start, \(bytes(.rssPeak)) at most, \(bytes(.rssEnd)) at the end"
            )
        }
        return lines
    }

    /// What was copied, and what the copies take.
    private var copies: String? {
        func bytes(_ figure: Figure) -> String { Quantities.bytes(figures[figure] ?? 0) }
        let peak = "spill file at most \(bytes(.spillFilePeak))"
        guard let ratio = figures[.compressionRatio] else {
            return record.outflow.copiedBytes > 0 ? "written \(bytes(.written)), \(peak)" : nil
        }
        var places: [String] = []
        if figures[.stored] ?? 0 > 0 { places.append(bytes(.stored)) }
        if figures[.heldCompressed] ?? 0 > 0 { places.append("\(bytes(.heldCompressed)) in memory") }
        var line = "written \(bytes(.copied)) as \(places.joined(separator: " and ")): "
        line += "ratio \(Quantities.fixed(ratio, 2)), "
        if let all = figures[.written], let inReclaims = figures[.copied], all > inReclaims {
            line += "\(Quantities.bytes(all - inReclaims)) more ahead or without a reclaim, "
        }
        return line + peak
    }

    private var problems: [String] {
        let losses = record.tally.losses.map { "LOST \($0.path): \($0.reason)" }
        let failures =
            record.neighbourComplaints + record.tally.complaints + record.reclaims.flatMap(\.failures)
            + record.restoreFailures
        let all = losses + failures
        let told = all.prefix(Self.fewest).map(style.bad)
        return all.count > told.count ? told + ["and \(all.count - told.count) more"] : told
    }

    // MARK: Verdict

    private var expectations: [String] {
        var table = TextTable([.left, .left])
        for outcome in outcomes {
            let unit = outcome.expectation.figure.unit
            table.add([
                outcome.expectation.text,
                outcome.value.map { Quantities.figure($0, unit) } ?? outcome.notMeasured
                    ?? "never measured in this run",
            ])
        }
        // The sign takes two.
        return zip(outcomes, table.lines(fitting: room.map { $0 - 2 })).map { outcome, line in
            if record.isInterrupted || outcome.notMeasured != nil { return style.dim("– \(line)") }
            return outcome.holds ? style.good("✓ ") + line : style.bad("✗ \(line)")
        }
    }

    private var verdict: String {
        let lost = Int(figures[.lost] ?? 0)
        if record.isInterrupted {
            let steps = record.steps.compactMap(\.number).max() ?? 0
            return style.bad(
                "Interrupted after \(Quantities.count(steps, "step")): lost = \(Quantities.count(lost)) until then. "
                    + "Nothing more was compared, and no expectation is held against it."
            )
        }
        let verified = Quantities.count(record.verifiedAtEnd, "value")
        let broken = outcomes.count(where: \.isBroken)
        let text = "\(verified) compared byte for byte with the source at the end: lost = \(Quantities.count(lost))."
        let rest =
            (outcomes.isEmpty ? "" : " " + sentence(broken)) + (record.allFinished ? "" : " \(record.unfinished).")
        return lost == 0 && broken == 0 && record.allFinished ? style.good(text + rest) : style.bad(text + rest)
    }

    private func sentence(_ broken: Int) -> String {
        let unmeasured = outcomes.count { $0.notMeasured != nil }
        let tested = outcomes.count - unmeasured
        let verdict =
            broken == 0
            ? tested == 1 ? "The expectation holds." : "All \(tested) expectations hold."
            : "\(Quantities.count(broken, "expectation")) of \(tested) failed."
        guard unmeasured > 0 else { return verdict }
        return verdict + " \(unmeasured) more cannot be told in virtual time."
    }
}
