import PressureKit
import ReportPages

/// All cells, for people.
struct WorthReport {
    var plan: WorthPlan
    var results: [WorthResult]
    var style = Style.plain

    /// Whether PressureKit was never killed, and nobody read anything wrong.
    var isRight: Bool { results.allSatisfy(\.isRight) }

    var text: String {
        var lines = [
            style.bold("Worth")
                + style.dim(
                    plan.isAlone
                        ? "  PressureKit below a limit: values read from a file and inflated"
                        : "  a bounded LRU and PressureKit below one limit: the same reads, values read from a file and inflated"
                ),
            style.dim(conditions), "",
        ]
        let table = table
        lines.append(style.dim(table.first ?? ""))
        var rows = table.dropFirst()
        var kind: WorthKind?
        for result in results {
            if result.kind != kind {
                lines += (kind == nil ? [] : [""]) + [style.bold(result.kind.title)]
                kind = result.kind
            }
            lines.append("  \(result.cell.title): \(verdict(result))")
            lines += rows.prefix(plan.contenders.count)
            rows = rows.dropFirst(plan.contenders.count)
            lines += remarks(result).map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// How it was measured.
    var conditions: String {
        let rounds = plan.rounds > 1 ? "medians of \(plan.rounds) rounds in turns" : "one round"
        let more = plan.kinds.contains(.swing) ? ", whole swings at least" : ""
        let beside = plan.busy > 0 ? ", beside \(Quantities.count(plan.busy, "busy thread"))" : ""
        let from = plan.source.words.map { "; \($0)" } ?? ""
        let measured = Quantities.duration(plan.times.measured)
        return "\(rounds), \(measured) each\(more), in the steady state\(beside)\(from)"
    }

    /// Such as `1.02 × the reads of the best LRU`.
    func verdict(_ result: WorthResult) -> String {
        guard result.isRight else { return style.bad(result.kills(of: .kit) > 0 ? "✗ killed" : "✗ failed") }
        guard !plan.isAlone else { return style.good("survived") }
        guard let ratio = result.ratio else { return "no LRU survives" }
        let text = "\(Quantities.digits(ratio)) × the reads of the best LRU"
        return ratio >= 1 ? style.good(text) : style.bold(text)
    }

    private var table: [String] {
        var table = TextTable([.left] + Array(repeating: .right, count: Self.columns.count))
        table.add([""] + Self.columns.map(\.title))
        for result in results {
            for contender in plan.contenders {
                let figures = result.figures(of: contender)
                let cells = Self.columns.map { column in figures.map(column.text) ?? "–" }
                table.add(["    \(Self.name(contender, result))"] + cells)
            }
        }
        return table.lines
    }

    /// A contender as it is called in a cell.
    static func name(_ contender: WorthContender, _ result: WorthResult) -> String {
        guard contender == .lru else { return "PressureKit" }
        guard let bounds = result.bounds, let bound = result.bound else { return "LRU" }
        func text(_ bytes: ByteCount) -> String { Quantities.bytes(Double(bytes.bytes)) }
        guard let first = bounds.first, let last = bounds.last, bounds.count > 1 else {
            return "LRU of \(text(bounds[0])), \(bound) %"
        }
        let words = first == last ? text(first) : "\(text(first)) and \(bounds.count - 1) × \(text(last))"
        return "LRU of \(words), \(bound) % together"
    }

    /// A figure with its title.
    struct Column: Sendable {
        var title: String
        var text: @Sendable (WorthFigures) -> String
    }

    static let columns = [
        Column(title: "reads/s") { Quantities.count(Int($0.readsPerSecond)) },
        Column(title: "loads") { Quantities.percent($0.loadShare) },
        Column(title: "p50") { Quantities.duration($0.p50) },
        Column(title: "p99") { Quantities.duration($0.p99) },
        Column(title: "p99.9") { Quantities.duration($0.p999) },
        Column(title: "longest") { Quantities.duration($0.longest) },
        Column(title: "use, mean") { Quantities.percent($0.meanUse) },
        Column(title: "least") { Quantities.percent($0.leastUse) },
        Column(title: "anonymous") { Quantities.bytes($0.meanAnonymousBytes) },
    ]

    /// What is to be said below a cell's figures.
    func remarks(_ result: WorthResult) -> [String] {
        var lines: [String] = []
        let killed = result.probes.filter { $0.speed == nil }.map { "\($0.bound)" }
        if !killed.isEmpty { lines.append("LRU killed with \(killed.joined(separator: ", ")) % of the limit") }
        let kits = result.outcomes(of: .kit)
        if let worst = kits.compactMap(\.library).max(by: { $0.told.sum < $1.told.sum }) {
            lines.append(
                """
                told by PressureKit: \(Quantities.count(worst.told.warnings, "warning")), \
                \(Quantities.count(worst.told.criticals, "critical")), \(Quantities.count(worst.told.hooks, "hook"))
                """
            )
        }
        if let use = result.typical(.kit)?.library?.use {
            let parts = use.parts.lazy.filter { $0.byteCount > 0 }
                .map { "\($0.name) \(Quantities.bytes(Double($0.byteCount)))" }
            lines.append("the limit at the end: \(parts.joined(separator: ", "))")
        }
        let kills = result.kills(of: .kit)
        if kills > 0 {
            lines.append(style.bad("PressureKit killed in \(kills) of \(Quantities.count(kits.count, "round"))"))
        }
        let stuck = kits.count { $0.end == .stuck }
        if stuck > 0 { lines.append(style.bad("PressureKit not done in time in \(Quantities.count(stuck, "round"))")) }
        for outcome in result.outcomes where outcome.wrong + outcome.failed > 0 {
            let count = "\(outcome.wrong) wrong, \(outcome.failed) failed"
            lines.append(
                style.bad("\(Self.name(outcome.contender, result)): \(count): \(outcome.complaints.first ?? "")")
            )
        }
        return lines
    }
}

extension WorthTold {
    /// Of everything.
    var sum: Int { warnings + criticals + hooks }
}

/// The same for programs.
struct WorthJSON: Encodable {
    struct Contender: Encodable {
        var name: WorthContender
        /// Medians; missing when no round went on to the end.
        var figures: WorthFigures?
        var rounds: [Round]
        /// Of the round whose speed is the median.
        var curve: WorthCurve?
    }

    struct Round: Encodable {
        var end: WorthOutcome.End
        var figures: WorthFigures
        var wrong: Int
        var failed: Int
        var complaints: [String]
        var library: WorthLibraryPart?
    }

    struct Cell: Encodable {
        var kind: WorthKind
        var processes: Int
        var limitBytes: Int
        var valueBytes: Int
        var values: Int
        var zipf: Double
        var readers: Int
        /// Of each LRU; where they have parts of their own, of the first one, and of each of the others.
        var boundBytes: Int?
        var otherBoundBytes: Int?
        /// Of all together, in hundredths of the limit.
        var bound: Int?
        var probes: [BoundSearch.Probe]
        var ratio: Double?
        var passed: Bool
        var contenders: [Contender]
    }

    var formatVersion = 1
    var command = "worth"
    var loadSeconds: Double?
    var server: String?
    var passed: Bool
    var cells: [Cell]

    init(_ report: WorthReport) {
        passed = report.isRight
        let source = report.plan.source
        loadSeconds = source.loadNanoseconds > 0 ? Double(source.loadNanoseconds) / 1e9 : nil
        server = source.server
        cells = report.results.map { result in
            Cell(
                kind: result.kind,
                processes: result.kind.processes,
                limitBytes: result.cell.limit.bytes,
                valueBytes: result.cell.valueSize.bytes,
                values: result.cell.values,
                zipf: result.cell.zipf,
                readers: result.cell.readers,
                boundBytes: result.bounds?.first?.bytes,
                otherBoundBytes: result.firstPart == nil ? nil : result.bounds?.last?.bytes,
                bound: result.bound,
                probes: result.probes,
                ratio: result.ratio,
                passed: result.isRight,
                contenders: report.plan.contenders.map { Self.contender($0, result) }
            )
        }
    }

    private static func contender(_ contender: WorthContender, _ result: WorthResult) -> Contender {
        Contender(
            name: contender,
            figures: result.figures(of: contender),
            rounds: result.outcomes(of: contender).map {
                Round(
                    end: $0.end,
                    figures: $0.figures,
                    wrong: $0.wrong,
                    failed: $0.failed,
                    complaints: $0.complaints,
                    library: $0.library
                )
            },
            curve: result.typical(contender)?.curve
        )
    }
}
