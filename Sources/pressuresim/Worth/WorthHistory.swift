import Foundation
import PressureKit
import ReportPages

/// A run of `worth` as a history keeps it: of each cell the reads a second and the slowest of a thousand reads, against the
/// best LRU's.
struct WorthHistory {
    /// A figure of a cell.
    private struct Entry {
        var subject: BenchSubject
        var figure: KeyPath<WorthFigures, Double>
        var result: WorthResult
    }

    let report: WorthReport

    private var entries: [Entry] {
        report.results.flatMap { result in
            let reads = Entry(
                subject: Self.subject("reads", result, .perSecond, BenchGoal(.valueOverLimit, .atLeast, 1)),
                figure: \.readsPerSecond,
                result: result
            )
            // While memory swings nothing is steady, and there is no goal.
            guard result.kind == .still else { return [reads] }
            let slowest = Entry(
                subject: Self.subject("p99.9", result, .seconds, BenchGoal(.valueOverLimit, .atMost, 1.5)),
                figure: \.p999,
                result: result
            )
            return [reads, slowest]
        }
    }

    /// What the run has measured, for charts.
    var subjects: [BenchSubject] { entries.map(\.subject) }

    /// The run.
    func run(_ machine: BenchMachine, commit: String?, date: Date = Date()) -> BenchRun {
        let metrics = entries.map { entry in
            func value(_ contender: WorthContender) -> Double? {
                entry.result.figures(of: contender)?[keyPath: entry.figure]
            }
            return BenchRun.Metric(entry.subject, value: value(.kit), limit: value(.lru))
        }
        return BenchRun(machine: machine, plan: plan, commit: commit, metrics: metrics, date: date)
    }

    /// How it was measured, as far as figures that were measured otherwise are not to be compared.
    private var plan: String {
        let (times, busy) = (report.plan.times, report.plan.busy)
        let lengths = "\(Quantities.duration(times.measured)) after at most \(Quantities.duration(times.mostWarm))"
        let beside = busy > 0 ? [Quantities.count(busy, "busy thread")] : []
        return (["\(BenchRun.worth) \(lengths)"] + beside + [report.plan.source.words].compactMap(\.self))
            .joined(separator: ", ")
    }

    private static func subject(_ figure: String, _ result: WorthResult, _ unit: BenchUnit, _ goal: BenchGoal)
        -> BenchSubject
    {
        let (kind, cell) = (result.kind.rawValue, result.cell)
        func size(_ size: ByteCount) -> String {
            Numeral.bytes(Double(size.bytes)).replacingOccurrences(of: " ", with: "")
        }
        let values = "\(cell.values)x\(size(cell.valueSize))"
        return BenchSubject(
            name: "\(BenchRun.worth)_\(kind)_\(size(cell.limit))_\(values)_zipf\(cell.zipf)_\(cell.readers)_\(figure)",
            title: "\(figure): \(kind), \(cell.title)",
            unit: unit,
            goal: goal,
            limit: "the best bounded LRU"
        )
    }
}
