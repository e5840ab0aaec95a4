import PressureKit
import ReportPages

/// The page: who reads how much, over the cells and over time.
struct WorthPage {
    let report: WorthReport
    var machine: PageMachine?
    /// Those that were kept before, and this one.
    var runs: [BenchRun] = []

    private var results: [WorthResult] { report.results }

    /// The page.
    var page: Page {
        Page(
            title: "What PressureKit is worth",
            kicker: "pressuresim worth",
            lead: .group {
                Html("p", .class("lead")) {
                    "The same reads of the same values below the same memory limit: once from a dictionary with the best "
                    "bound there is, once from PressureKit with nothing set."
                }
                Html("p", .class("muted")) { report.conditions }
            },
            opening: verdict,
            sections: [cells, figures, curves, history, reading, environment].compactMap(\.self),
            footer: ToolVersion.footer,
            generator: ToolVersion.generator
        )
    }

    private var verdict: Html {
        let ratios = results.compactMap(\.ratio)
        let reached = ratios.count { $0 >= 1 }
        let least = ratios.min().map { " The least is \(Quantities.digits($0)) ×." } ?? ""
        return .group {
            Page.verdict(
                report.isRight && reached == results.count ? .good : .bad,
                report.isRight
                    ? "As fast as the best LRU in \(reached) of \(results.count) cells" : "Not all went well",
                "An LRU needs its bound to be found for every limit; PressureKit has none to be set.\(least)"
            )
            if let machine, !machine.isOptimized {
                Html("p", .class("bad")) {
                    "This is a debug build: its figures mean nothing. Use swift build -c release."
                }
            }
        }
    }

    // MARK: Sections

    /// The bars of all cells, each cell's in proportion to its LRU's.
    static func bars(_ results: [WorthResult]) -> Bars {
        let spoken = results.map { result in
            "\(result.cell.title): \(result.ratio.map { "\(Quantities.digits($0)) times the LRU" } ?? "not measured")."
        }
        return Bars(
            id: "worth-chart",
            title: "Reads a second of PressureKit over those of the best LRU, by cell",
            description: spoken.joined(separator: " "),
            groups: results.map { result in
                let prefix = result.kind == .still ? "" : "\(result.kind.rawValue): "
                let ratio = result.ratio.map { ": \(Quantities.digits($0)) ×" } ?? ""
                let base = result.figures(of: .lru)?.readsPerSecond ?? result.figures(of: .kit)?.readsPerSecond ?? 1
                return Bars.Group(
                    title: prefix + result.cell.title + ratio,
                    bars: WorthContender.allCases.map { contender in
                        let speed = result.figures(of: contender)?.readsPerSecond
                        return Bars.Bar(
                            tone: contender.tone,
                            value: (speed ?? 0) / max(base, 1),
                            text: speed.map { "\(Quantities.count(Int($0)))/s" } ?? "killed"
                        )
                    }
                )
            },
            reference: 1
        )
    }

    /// Who is who.
    static func legend(_ look: ChartFigure.Entry.Look = .box) -> [ChartFigure.Entry] {
        WorthContender.allCases.map {
            .init(tone: $0.tone, look: look, text: $0 == .lru ? "the best bounded LRU" : "PressureKit, nothing set")
        }
    }

    private var cells: Page.Section? {
        guard !results.isEmpty else { return nil }
        return Page.Section("cells", "Reads a second", short: "Reads") {
            ChartFigure(
                id: "worth-figure",
                title: "Reads a second, by cell",
                caption: .text("The length of a bar is in proportion to the LRU of its cell, the dashed line."),
                legend: Self.legend(),
                chart: Self.bars(results).html,
                table: readsTable
            ).html
        }
    }

    private var readsTable: DataTable {
        var table = DataTable(
            caption: "Reads a second, by cell",
            isCaptionHidden: true,
            columns: [.text("Cell"), .number("The best LRU"), .number("PressureKit"), .number("Over the LRU")]
        )
        for result in results {
            let speeds = WorthContender.allCases.map { contender in
                result.figures(of: contender).map { Quantities.count(Int($0.readsPerSecond)) } ?? "–"
            }
            let ratio = result.ratio.map { "\(Quantities.digits($0)) ×" } ?? "–"
            table.add(["\(result.kind.rawValue), \(result.cell.title)"] + speeds + [ratio])
        }
        return table
    }

    private var figures: Page.Section? {
        guard !results.isEmpty else { return nil }
        var table = DataTable(
            caption: report.conditions,
            columns: [.text("Cell"), .text("Contender"), .number("Over the LRU")]
                + WorthReport.columns.map { .number($0.title) }
        )
        for result in results {
            for contender in WorthContender.allCases {
                let figures = result.figures(of: contender)
                let ratio = contender == .kit ? result.ratio.map { "\(Quantities.digits($0)) ×" } ?? "–" : ""
                table.add(
                    ["\(result.kind.rawValue), \(result.cell.title)", WorthReport.name(contender, result), ratio]
                        + WorthReport.columns.map { column in figures.map(column.text) ?? "–" }
                )
            }
        }
        return Page.Section("figures", "All figures", short: "Figures") {
            table.html
            Html("ul") {
                results.flatMap { result in
                    report.remarks(result).map { line in
                        Html("li") { "\(result.kind.rawValue), \(result.cell.title): \(line)" }
                    }
                }
            }
        }
    }

    private var curves: Page.Section? {
        let drawn = results.enumerated().filter { !WorthCurves.isEmpty($0.element) }
        guard !drawn.isEmpty else { return nil }
        return Page.Section("curves", "Over time", short: "Over time") {
            Html("p", .class("note")) {
                "Of the round whose speed is the median, since the reads began. The first part, shaded, is not counted."
            }
            drawn.map { index, result in WorthCurves(result: result, number: index, plan: report.plan).html }
        }
    }

    private var history: Page.Section? {
        BenchPage.history(of: WorthHistory(report: report).subjects, in: runs)
    }

    private var reading: Page.Section {
        Page.Section("reading", "How to read this page", short: "How to read") {
            Page.facts([
                (
                    "The best LRU",
                    "A dictionary under a mutex that forgets the least recently used beyond a bound. The bound is looked "
                        + "for in short runs: the fastest with which the kernel does not kill the process."
                ),
                (
                    "Use",
                    "All that is charged to the cgroup, page cache and the kernel's own included, ten times a second."
                ),
                ("Anonymous", "The part of it that is the processes' own memory: values, heap, stacks."),
                ("Longest", "The one read that took longest; of several rounds the median of those."),
                ("A hook", "A call of a controller's delegate: a warning, a level, a reclaim that begins or ends."),
            ])
        }
    }

    private var environment: Page.Section? {
        machine.map { machine in
            let commit = runs.last?.commit.map { [(name: "Commit", value: $0)] } ?? []
            return Page.Section("environment", "Measured on", short: "Machine") { Page.facts(machine.facts + commit) }
        }
    }

    /// One picture with the bars, for a page of somebody else's.
    var picture: Picture {
        Picture(
            title: "Reads a second below a memory limit",
            caption: "pressuresim worth: the same reads in a cgroup, bars in proportion to the best LRU of their row",
            legend: Self.legend(),
            bars: Self.bars(results)
        )
    }
}

extension WorthContender {
    /// Its colour.
    var tone: Tone { self == .lru ? .grey : .blue }
}
