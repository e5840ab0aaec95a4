import PressureKit
import ReportPages
import ScenarioLanguage

/// What reclaims claimed, what the system got back, what left and what stayed.
extension HtmlReport {
    /// So many reclaims are drawn, those that claimed most.
    private static let drawn = 12

    /// Steps with a reclaim that claimed something, or all with one.
    private var reclaimed: [(title: String, reclaim: ReclaimRecord)] {
        record.steps.compactMap { step in step.reclaim.map { (step.title, $0) } }
    }

    var reclaims: Page.Section? {
        let reclaimed = reclaimed
        guard !reclaimed.isEmpty else { return nil }
        return Page.Section("reclaims", "Claimed and really freed", short: "Freed") { figure(reclaimed).html }
    }

    private func figure(_ reclaimed: [(title: String, reclaim: ReclaimRecord)]) -> ChartFigure {
        let largest = reclaimed.sorted { $0.reclaim.claimedBytes > $1.reclaim.claimedBytes }.prefix(Self.drawn)
        let least = largest.last?.reclaim.claimedBytes ?? 0
        let shown = Array(reclaimed.filter { $0.reclaim.claimedBytes >= least }.prefix(Self.drawn))
        let rest = reclaimed.count - shown.count
        let drawing = Bars(
            id: "reclaim-chart",
            title: "Bytes claimed and returned by each reclaim",
            description: "\(Quantities.count(reclaimed.count, "reclaim")): " + account,
            groups: shown.map { title, reclaim in
                .init(title: "\(title), at \(Quantities.fixed(reclaim.atSeconds, 2)) s", bars: bars(reclaim))
            }
        )
        var legend = [ChartFigure.Entry(tone: .blue, text: "claimed: bytes of the values that left")]
        if !record.isVirtual {
            legend.append(.init(tone: .sky, text: "returned: the process shrank by, as the library measured"))
        }
        if shown.contains(where: { $0.reclaim.rssFallBytes != nil }) {
            legend.append(.init(tone: .grey, text: "VmRSS fell by, as this tool saw from outside"))
        }
        return ChartFigure(
            id: "reclaim-figure",
            title: rest > 0 ? "The \(shown.count) largest of \(reclaimed.count) reclaims" : "Each reclaim",
            caption: .text("What counts is what the operating system got back, next to what was claimed. " + account),
            legend: legend,
            chart: drawing.html,
            table: table(reclaimed)
        )
    }

    private var account: String {
        guard let claimed = figures[.claimed], claimed > 0 else { return "Nothing was claimed." }
        guard let returned = figures[.returned], !record.isVirtual else {
            return "Claimed \(Quantities.bytes(claimed)); what came back is not measured in virtual time.".unbroken
        }
        let share = figures[.returnedOverClaimed].map { " (\(Quantities.percent($0)))" } ?? ""
        return "Claimed \(Quantities.bytes(claimed)), returned \(Quantities.bytes(returned))\(share).".unbroken
    }

    private func bars(_ reclaim: ReclaimRecord) -> [Bars.Bar] {
        var bars: [Bars.Bar] = []
        func add(_ tone: Tone, _ bytes: Int) {
            bars.append(.init(tone: tone, value: Double(bytes), text: Quantities.bytes(Double(bytes))))
        }
        add(.blue, reclaim.claimedBytes)
        if !record.isVirtual { add(.sky, reclaim.returnedBytes) }
        if let fall = reclaim.rssFallBytes { add(.grey, fall) }
        return bars
    }

    private func table(_ reclaimed: [(title: String, reclaim: ReclaimRecord)]) -> DataTable {
        var table = DataTable(
            caption: "Reclaims",
            columns: [
                .text("Reclaim"), .number("At"), .number("Took"), .number("Claimed"), .number("Returned"),
                .number("VmRSS"),
                .number("Written"), .number("On disk"), .number("Compressed in memory"),
            ]
        )
        for (title, reclaim) in reclaimed {
            let claimed = Quantities.bytes(Double(reclaim.claimedBytes))
            let bytes = [claimed, record.isVirtual ? "–" : Quantities.bytes(Double(reclaim.returnedBytes))]
            let copies = [reclaim.copiedBytes, reclaim.storedBytes, reclaim.compressedBytes].map {
                Quantities.bytes(Double($0))
            }
            let fall = reclaim.rssFallBytes.map { Quantities.bytes(Double($0)) } ?? "–"
            let times = [Quantities.fixed(reclaim.atSeconds, 2) + " s", Quantities.duration(reclaim.durationSeconds)]
            table.add([title] + times + bytes + [fall] + copies)
        }
        return table
    }

    // MARK: By cache

    /// What became of the values of caches that are alike.
    private struct CacheLine {
        var bytes = 0
        /// Of those, bytes that were written, and what became of them.
        var written = 0
        var stored = 0
        var values: [String: Int] = [:]
    }

    var caches: Page.Section? {
        var lines: [String: CacheLine] = [:]
        for group in record.reclaims.flatMap(\.evicted) {
            lines[group.path, default: CacheLine()].bytes += group.bytes
            if group.storedBytes > 0 { lines[group.path, default: CacheLine()].written += group.bytes }
            lines[group.path, default: CacheLine()].stored += group.storedBytes
            lines[group.path, default: CacheLine()].values[group.outcome, default: 0] += group.values
        }
        guard !lines.isEmpty else { return nil }
        let outcomes = EvictionReport.Outcome.allCases.map(\.rawValue).filter { name in
            lines.values.contains { $0.values[name] != nil }
        }
        var table = DataTable(
            caption: "Values that left memory, all reclaims together",
            columns: [.text("Cache"), .number("Left"), .number("Freed")] + outcomes.map { .number($0) }
                + [.number("Of them written"), .number("Stored in")]
        )
        for (path, line) in lines.sorted(by: { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }) {
            let all = line.values.values.reduce(0, +)
            var cells: [Html] = [Html("code") { path }, .text(Quantities.count(all))]
            cells.append(.text(Quantities.bytes(Double(line.bytes))))
            cells += outcomes.map { .text(line.values[$0].map { Quantities.count($0) } ?? "–") }
            cells += [line.written, line.stored].map { .text($0 > 0 ? Quantities.bytes(Double($0)) : "–") }
            table.add(cells)
        }
        return Page.Section("caches", "Which controllers gave what", short: "Controllers") {
            Html("p", .class("note")) {
                "A path names the controllers down to a cache; numbered ones are counted together. "
                for name in outcomes { "\(Self.meaning(outcome: name)) " }
            }
            table.html
        }
    }

    private static func meaning(outcome: String) -> String {
        switch EvictionReport.Outcome(rawValue: outcome) {
        case .reused: "Reused: a valid copy was there already, and releasing it was one free."
        case .spilled: "Spilled: written to the spill file."
        case .compressed: "Compressed: stays in memory, smaller."
        case .dropped: "Dropped: its loader makes it again."
        case nil: ""
        }
    }

    // MARK: What stayed

    var stayed: Page.Section {
        var reasons: [(reason: String, values: Int, bytes: Int)] = []
        for skip in record.reclaims.flatMap(\.skipped) {
            let index = reasons.firstIndex { $0.reason == skip.reason } ?? reasons.count
            if index == reasons.count { reasons.append((skip.reason, 0, 0)) }
            reasons[index].values += skip.values
            reasons[index].bytes += skip.bytes
        }
        var table = DataTable(
            caption: "Values that stayed in memory although a reclaim looked at them",
            columns: [.text("Why"), .number("Values"), .number("Bytes")]
        )
        for line in reasons {
            let why = Html.text(EvictionReport.SkipReason.words(line.reason))
            table.add([why, .text(Quantities.count(line.values)), .text(Quantities.bytes(Double(line.bytes)))])
        }
        return Page.Section("stayed", "What stayed, and why", short: "Stayed") {
            if reasons.isEmpty {
                Html("p") { "Nothing that a reclaim wanted had to stay." }
            } else {
                table.html
            }
        }
    }
}
