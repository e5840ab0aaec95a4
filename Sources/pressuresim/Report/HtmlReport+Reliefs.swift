import PressureKit
import ReportPages
import ScenarioLanguage

/// What reliefs claimed, what the system got back, what left and what stayed.
extension HtmlReport {
    /// So many reliefs are drawn, those that claimed most.
    private static let drawn = 12

    /// Steps with a relief that claimed something, or all with one.
    private var relieved: [(title: String, relief: ReliefRecord)] {
        record.steps.compactMap { step in step.relief.map { (step.title, $0) } }
    }

    var reliefs: Page.Section? {
        let relieved = relieved
        guard !relieved.isEmpty else { return nil }
        return Page.Section("reliefs", "Claimed and really freed", short: "Freed") { figure(relieved).html }
    }

    private func figure(_ relieved: [(title: String, relief: ReliefRecord)]) -> ChartFigure {
        let largest = relieved.sorted { $0.relief.claimedBytes > $1.relief.claimedBytes }.prefix(Self.drawn)
        let least = largest.last?.relief.claimedBytes ?? 0
        let shown = Array(relieved.filter { $0.relief.claimedBytes >= least }.prefix(Self.drawn))
        let rest = relieved.count - shown.count
        let drawing = Bars(
            id: "relief-chart",
            title: "Bytes claimed and returned by each relief",
            description: "\(Quantities.count(relieved.count, "relief")): " + account,
            groups: shown.map { title, relief in
                .init(title: "\(title), at \(Quantities.fixed(relief.atSeconds, 2)) s", bars: bars(relief))
            }
        )
        var legend = [ChartFigure.Entry(tone: .blue, text: "claimed: bytes of the values that left")]
        if !record.isVirtual {
            legend.append(.init(tone: .sky, text: "returned: the process shrank by, as the library measured"))
        }
        if shown.contains(where: { $0.relief.rssFallBytes != nil }) {
            legend.append(.init(tone: .grey, text: "VmRSS fell by, as this tool saw from outside"))
        }
        return ChartFigure(
            id: "relief-figure",
            title: rest > 0 ? "The \(shown.count) largest of \(relieved.count) reliefs" : "Each relief",
            caption: .text("What counts is what the operating system got back, next to what was claimed. " + account),
            legend: legend,
            chart: drawing.html,
            table: table(relieved)
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

    private func bars(_ relief: ReliefRecord) -> [Bars.Bar] {
        var bars: [Bars.Bar] = []
        func add(_ tone: Tone, _ bytes: Int) {
            bars.append(.init(tone: tone, value: Double(bytes), text: Quantities.bytes(Double(bytes))))
        }
        add(.blue, relief.claimedBytes)
        if !record.isVirtual { add(.sky, relief.returnedBytes) }
        if let fall = relief.rssFallBytes { add(.grey, fall) }
        return bars
    }

    private func table(_ relieved: [(title: String, relief: ReliefRecord)]) -> DataTable {
        var table = DataTable(
            caption: "Reliefs",
            columns: [
                .text("Relief"), .number("At"), .number("Took"), .number("Claimed"), .number("Returned"),
                .number("VmRSS"),
                .number("Written"), .number("Stored"),
            ]
        )
        for (title, relief) in relieved {
            let claimed = Quantities.bytes(Double(relief.claimedBytes))
            let bytes = [claimed, record.isVirtual ? "–" : Quantities.bytes(Double(relief.returnedBytes))]
            let copies = [relief.copiedBytes, relief.storedBytes].map { Quantities.bytes(Double($0)) }
            let fall = relief.rssFallBytes.map { Quantities.bytes(Double($0)) } ?? "–"
            let times = [Quantities.fixed(relief.atSeconds, 2) + " s", Quantities.duration(relief.durationSeconds)]
            table.add([title] + times + bytes + [fall] + copies)
        }
        return table
    }

    // MARK: By cache

    /// What became of the values of caches that are alike.
    private struct CacheLine {
        var bytes = 0
        var stored = 0
        var values: [String: Int] = [:]
    }

    var caches: Page.Section? {
        var lines: [String: CacheLine] = [:]
        for group in record.reliefs.flatMap(\.evicted) {
            lines[group.path, default: CacheLine()].bytes += group.bytes
            lines[group.path, default: CacheLine()].stored += group.storedBytes
            lines[group.path, default: CacheLine()].values[group.disposition, default: 0] += group.values
        }
        guard !lines.isEmpty else { return nil }
        let dispositions = EvictionReport.Disposition.allCases.map(\.rawValue).filter { name in
            lines.values.contains { $0.values[name] != nil }
        }
        var table = DataTable(
            caption: "Values that left memory, all reliefs together",
            columns: [.text("Cache"), .number("Left"), .number("Bytes")] + dispositions.map { .number($0) }
                + [.number("Stored in")]
        )
        for (path, line) in lines.sorted(by: { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }) {
            let all = line.values.values.reduce(0, +)
            var cells: [Html] = [Html("code") { path }, .text(Quantities.count(all))]
            cells.append(.text(Quantities.bytes(Double(line.bytes))))
            cells += dispositions.map { .text(line.values[$0].map { Quantities.count($0) } ?? "–") }
            cells.append(.text(line.stored > 0 ? Quantities.bytes(Double(line.stored)) : "–"))
            table.add(cells)
        }
        return Page.Section("caches", "Which controllers gave what", short: "Controllers") {
            Html("p", .class("note")) {
                "A path names the controllers down to a cache; numbered ones are counted together. "
                for name in dispositions { "\(Self.meaning(disposition: name)) " }
            }
            table.html
        }
    }

    private static func meaning(disposition: String) -> String {
        switch EvictionReport.Disposition(rawValue: disposition) {
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
        for skip in record.reliefs.flatMap(\.skipped) {
            let index = reasons.firstIndex { $0.reason == skip.reason } ?? reasons.count
            if index == reasons.count { reasons.append((skip.reason, 0, 0)) }
            reasons[index].values += skip.values
            reasons[index].bytes += skip.bytes
        }
        var table = DataTable(
            caption: "Values that stayed in memory although a relief looked at them",
            columns: [.text("Why"), .number("Values"), .number("Bytes")]
        )
        for line in reasons {
            let why = Html.group {
                Html("b") { line.reason }
                ": \(Self.meaning(reason: line.reason))"
            }
            table.add([why, .text(Quantities.count(line.values)), .text(Quantities.bytes(Double(line.bytes)))])
        }
        return Page.Section("stayed", "What stayed, and why", short: "Stayed") {
            if reasons.isEmpty {
                Html("p") { "Nothing that a relief wanted had to stay." }
            } else {
                table.html
            }
        }
    }

    private static func meaning(reason: String) -> String {
        switch EvictionReport.SkipReason(rawValue: reason) {
        case .pinned: "in use, or came into use while it was being copied"
        case .busy: "being loaded, restored or changed"
        case .spillFailed: "could not be written, and there is no loader"
        case .spillSuspended: "writing is suspended after earlier failures, and there is no loader"
        case .notCompressible: "compressing would not have freed a tenth of it, or the compressed tier is full"
        case .deadline: "the relief's time was up"
        case .vetoed: "its controller's delegate did not want it evicted now"
        case .unsupported: "what it, its controller and the manager support leaves it no way out"
        case nil: "see the documentation"
        }
    }
}
