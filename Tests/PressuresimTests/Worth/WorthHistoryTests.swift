import Foundation
import Testing

@testable import ReportPages
@testable import pressuresim

@Suite struct WorthHistoryTests {
    private var machine: BenchMachine {
        var machine = BenchMachine(spillDirectory: "/var/tmp", corpus: "", loadBefore: 0.1)
        (machine.processor, machine.cores, machine.optimized) = ("A processor", 2, true)
        return machine
    }

    private func run(_ report: WorthReport, day: Int = 0) -> BenchRun {
        let date = Date(timeIntervalSince1970: 1_770_000_000 + 86_400 * Double(day))
        return WorthHistory(report: report).run(machine, commit: "abc", date: date)
    }

    /// Runs are compared by these names: a change of one is an end of its history.
    @Test func readsAndTheSlowestOfAThousandAreKeptOfEachCell() throws {
        let run = run(WorthSamples.usual)
        #expect(
            run.metrics.map(\.name) == [
                "worth_static_256MiB_14745x32KiB_zipf0.9_1_reads", "worth_static_256MiB_14745x32KiB_zipf0.9_1_p99.9",
                "worth_static_256MiB_460x1MiB_zipf0.9_2_reads", "worth_static_256MiB_460x1MiB_zipf0.9_2_p99.9",
                "worth_shared2_256MiB_14745x32KiB_zipf0.9_1_reads",
            ]
        )
        let (reads, slowest, fewer) = (run.metrics[0], run.metrics[1], run.metrics[2])
        #expect(reads.value == 20_500 && reads.limit == 19_564 && reads.ratio == 20_500.0 / 19_564)
        #expect(reads.unit == "1/s" && reads.goal == ">= 1" && reads.holds == true)
        #expect(slowest.value == 900e-6 && slowest.unit == "s" && slowest.goal == "<= 1.5" && slowest.holds == true)
        #expect(fewer.value == 785 && fewer.holds == false)
    }

    @Test func whatCouldNotBeMeasuredIsMissingAndTheLineIsRead() async throws {
        let run = run(WorthSamples.bad)
        let names = run.metrics.map(\.name)
        #expect(names.first == "worth_swing_256MiB_14745x32KiB_zipf0.9_1_reads")
        // No LRU survives; and PressureKit never ended.
        #expect(run.metrics[0].value == 5000 && run.metrics[0].limit == nil && run.metrics[0].holds == nil)
        let theirs = WorthSamples.bad.results[1].figures(of: .lru)?.readsPerSecond
        #expect(run.metrics[1].value == nil && run.metrics[1].ratio == nil && run.metrics[1].holds == nil)
        #expect(run.metrics[1].limit == theirs && theirs != nil)
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("history.jsonl").path
            try BenchHistory.append(run, to: path)
            #expect(try BenchHistory.read(path) == [run])
        }
    }

    @Test func onlyWhatWasMeasuredAlikeIsCompared() {
        let usual = WorthSamples.usual
        var others = [usual, usual, usual]
        others[0].plan.busy = 2
        others[1].plan.times = WorthPlan.quick.times
        others[2].plan.source = WorthSource(loadNanoseconds: 20_000_000)
        #expect(run(usual).isComparable(with: run(usual, day: 1)))
        for other in others { #expect(!run(usual).isComparable(with: run(other))) }
        var rounds = usual
        rounds.plan.rounds = 1
        #expect(run(usual).isComparable(with: run(rounds)), "fewer rounds are less exact, and nothing else")
    }

    @Test func thePageDrawsEveryFigureOverTheRunsThatWereKept() throws {
        let report = WorthSamples.usual
        let first = try Parsed(WorthPage(report: report, machine: RunSamples.machine, runs: [run(report)]).page.text)
        #expect(first.text.contains("abc"), "the commit")
        #expect(!first.text.contains("From run to run"))
        let page = try Parsed(WorthPage(report: report, runs: [run(report, day: -3), run(report)]).page.text)
        let subjects = WorthHistory(report: report).subjects
        #expect(page.names.count { $0 == "figure" } == first.names.count { $0 == "figure" } + subjects.count)
        #expect(Set(page.all("id")).count == page.all("id").count)
        #expect(page.text.contains("reads: static, 256 MiB, 14,745 × 32 KiB, zipf 0.9, 1 reader"))
        for words in ["From run to run", "20,500/s", "2026-01-30", "2026-02-02"] {
            #expect(page.text.contains(words), "\(words)")
        }
    }

    /// One file for both commands.
    @Test func aRunOfTheBenchIsNoneOfWorth() {
        #expect(run(WorthSamples.usual).isOfWorth)
        #expect(BenchSamples.history(count: 3).allSatisfy { !$0.isOfWorth })
    }
}
