import PressureKit
import ReportPages
import ScenarioLanguage

/// The page of a comparison: who is best, how long readers waited with whom, all figures, and how to read them.
struct ComparisonPage {
    let report: ComparisonReport
    /// Where it was measured; `nil` in virtual time, where that does not matter.
    var machine: PageMachine?

    private var words: ComparisonWords { ComparisonWords(report: report) }

    /// The page.
    var page: Page {
        Page(
            title: report.scenario.name,
            kicker: "pressuresim compare · \(report.file) · seed \(report.scenario.seed)",
            lead: lead,
            opening: .sequence([verdict, tiles]),
            sections: [waiting, figures, remarks, contenders, environment].compactMap(\.self),
            footer: ToolVersion.footer,
            generator: ToolVersion.generator
        )
    }

    private var lead: Html {
        .group {
            if !report.scenario.description.isEmpty { Html("p", .class("lead")) { report.scenario.description } }
            Html("p", .class("muted")) { ComparisonText(report: report, style: .plain).conditions }
        }
    }

    private var verdict: Html {
        let standing = report.standing(.waited)
        let verdict: Page.Verdict = report.hasFailed || standing == .beaten ? .bad : standing == .alone ? .good : .open
        return .group {
            Page.verdict(
                verdict,
                report.hasFailed ? "Values were lost" : standing.title,
                words.verdictDetail
            )
            if !words.faults.isEmpty { Html("ul", .class("bad")) { words.faults.map { line in Html("li") { line } } } }
        }
    }

    private var tiles: Html {
        func tile(_ title: String, _ column: Score.Column) -> Page.Tile? {
            guard let value = report.ours?[column] else { return nil }
            let best = report.best(column).first { $0.contender != .ours }
            let aside = report.isOursBest(column) ? "nobody is better" : "\(best?.name ?? "another"): "
            let other = report.isOursBest(column) ? "" : best?[column].map(column.text) ?? ""
            return Page.Tile(title: title, figure: column.text(value), aside: aside + other)
        }
        return Page.tiles(
            [
                tile("Waited, all readers", .waited), tile("Found in memory", .hitRate), tile("Read, 99 of 100", .p99),
                tile("Written", .written),
            ].compactMap(\.self)
        )
    }

    // MARK: Sections

    private var waiting: Page.Section? {
        guard !report.scores.isEmpty else { return nil }
        return Page.Section("waiting", "How long readers waited", short: "Waiting") {
            ChartFigure(
                id: "waiting-figure",
                title: "Restores and loaders, by contender",
                caption: .text("The time that all readers together waited for values that were not in memory."),
                legend: [
                    .init(tone: .amber, text: Score.Column.restoreStall.title),
                    .init(tone: .purple, text: Score.Column.reloadCost.title),
                ],
                chart: bars.html,
                table: waitingTable
            ).html
        }
    }

    private var bars: Bars {
        let parts: [(Score.Column, Tone)] = [(.restoreStall, .amber), (.reloadCost, .purple)]
        let spoken = report.scores.map { score in
            "\(score.name): \(parts.map { "\($0.0.title) \($0.0.text(score[$0.0] ?? 0))" }.joined(separator: ", "))."
        }
        return Bars(
            id: "waiting-chart",
            title: "Time that readers waited, by contender",
            description: spoken.joined(separator: " "),
            groups: report.scores.map { score in
                let segments = parts.map { (tone: $0.1, value: score[$0.0] ?? 0) }
                return Bars.Group(
                    title: score.name,
                    bars: [.init(parts: segments, text: Score.Column.waited.text(score[.waited] ?? 0))]
                )
            }
        )
    }

    private var waitingTable: DataTable {
        let columns: [Score.Column] = [.restoreStall, .reloadCost, .waited]
        var table = DataTable(
            caption: "Time that readers waited, by contender",
            isCaptionHidden: true,
            columns: [.text("Contender")] + columns.map { .number($0.title) }
        )
        for score in report.scores {
            table.add([score.name] + columns.map { column in score[column].map(column.text) ?? "–" })
        }
        return table
    }

    private var figures: Page.Section? {
        let columns = report.columns
        guard !columns.isEmpty else { return nil }
        var table = DataTable(
            caption: "★ is the best of its line",
            columns: [.text("Figure")] + report.scores.map { .number($0.contender.shortTitle) }
        )
        for column in columns {
            let best = report.best(column).map(\.contender)
            let cells = report.scores.map { score -> Html in
                guard let value = score[column] else { return .text("–") }
                let text = column.text(value)
                guard best.contains(score.contender) else { return .text(text) }
                return Html("strong", .class("good")) { "★\u{A0}\(text)" }
            }
            table.add([.text(column.title)] + cells, class: column == .waited ? "total" : nil)
        }
        return Page.Section("figures", "All figures", short: "Figures") {
            table.html
            Page.facts(columns.map { ($0.title, $0.meaning) })
        }
    }

    private var remarks: Page.Section? {
        guard !words.remarks.isEmpty else { return nil }
        return Page.Section("remarks", "What else there is to know", short: "Remarks") {
            Html("ul") { words.remarks.map { line in Html("li") { line } } }
        }
    }

    private var contenders: Page.Section? {
        guard !report.scores.isEmpty else { return nil }
        return Page.Section("contenders", "Who is who", short: "Contenders") {
            Html("p") {
                "All orders are played by PressureKit itself, so that everything else is equal: values in use stay, and copies "
                "are checked. All but purging and NSCache's order take what is hidden before what is visible."
            }
            Page.facts(report.scores.map { ($0.name, $0.contender.model) })
        }
    }

    private var environment: Page.Section? {
        machine.map { machine in
            Page.Section("environment", "Measured on", short: "Machine") { Page.facts(machine.facts) }
        }
    }
}

/// How ours stands beside the others in a column that is worth comparing.
enum ComparisonStanding: Hashable, Sendable {
    /// Nobody else is as good.
    case alone
    /// Others are as good, and nobody is better.
    case tied
    case beaten

    fileprivate var title: String {
        switch self {
        case .alone: "Readers wait least with PressureKit"
        case .tied: "A tie: others make readers wait no longer"
        case .beaten: "PressureKit is not the best here"
        }
    }
}

extension ComparisonReport {
    /// How ours stands; `tied` as well where there is nobody to be compared with.
    func standing(_ column: Score.Column) -> ComparisonStanding {
        guard isOursBest(column) else { return .beaten }
        return best(column).map(\.contender) == [.ours] ? .alone : .tied
    }
}
