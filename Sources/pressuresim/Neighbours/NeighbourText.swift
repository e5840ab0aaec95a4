import Foundation
import PressureKit
import ReportPages
import ScenarioLanguage

/// The same for people.
struct NeighbourText {
    var boards: [NeighbourBoard]
    var style: Style

    var text: String {
        guard !boards.isEmpty else {
            return "No processes of this user share a limit: none has a manager that runs below one."
        }
        return boards.map(describe).joined(separator: "\n\n")
    }

    private func describe(_ board: NeighbourBoard) -> String {
        var table = TextTable([.right, .left, .right, .right, .right, .right, .right, .right])
        table.add(["process", "", "holds", "can go at once", "to be written", "free heap", "its share", "waited"])
        for process in board.processes {
            table.add([
                "\(process.process)", process.command?.visible(except: []) ?? "", size(process.heldBytes),
                size(process.freeBytes), size(process.dirtyBytes), size(process.heapBytes),
                Quantities.percent(process.share), Quantities.duration(process.waitedSeconds),
            ])
        }
        var lines = [style.bold(board.cgroup ?? board.file)]
        if let shortage = board.shortage {
            lines.append(
                style.dim(
                    """
                    shortage \(shortage.number): \(size(shortage.needBytes)) were missing \
                    \(Quantities.duration(max(0, shortage.secondsAgo))) ago
                    """
                )
            )
        }
        return (lines + table.lines(fitting: nil, hasHeader: true)).joined(separator: "\n")
    }

    private func size(_ bytes: Int) -> String { Quantities.bytes(Double(bytes)) }
}

/// What was measured, for people.
struct NeighbourBenchText {
    var findings: NeighbourBench.Findings
    var style: Style

    var text: String {
        var table = TextTable([.right, .right, .right, .right, .right])
        table.add(["processes", "needed", "freed", "freed over needed", "all had looked within"])
        let counts = findings.shortages.map(\.processes).reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
        for count in counts {
            let all = findings.shortages.filter { $0.processes == count }
                .sorted { findings.ratio($0) ?? 0 < findings.ratio($1) ?? 0 }
            let median = all[all.count / 2]
            let last = all.compactMap(\.answered).max()
            table.add([
                "\(count)", findings.needed(median).map { Quantities.bytes(Double($0)) } ?? "–",
                Quantities.bytes(Double(median.freed)), findings.ratio(median).map { Quantities.fixed($0, 2) } ?? "–",
                count > 1 ? last.map { "\(Quantities.fixed($0, 1)) ms" } ?? "–" : "–",
            ])
        }
        let verdict = findings.isRight ? style.good("0 killed, 0 lost, nothing left") : style.bad(faults)
        return (table.lines + ["", "\(Quantities.count(findings.runs, "run")) of coming and going: \(verdict)"])
            .joined(separator: "\n")
    }

    private var faults: String { "\(findings.kills) killed, \(findings.lost) lost, \(findings.left) left" }
}

extension NeighbourBench.Findings {
    /// Whether nobody was killed, nothing lost and nothing left.
    var isRight: Bool { kills == 0 && lost == 0 && left == 0 && shortages.allSatisfy { $0.kills == 0 } }
}
