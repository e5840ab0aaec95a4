import PressureKit
import Testing

@testable import pressuresim

/// From a run's record to what is compared.
@Suite struct ScoreTests {
    private func record(_ change: (inout RunRecord) -> Void) throws -> RunRecord {
        var record = RunRecord(scenario: try scenario(smallScenario), file: "small.yaml")
        change(&record)
        return record
    }

    @Test func stallAndReloadCostAreTheTimesThatReadersWaited() throws {
        let record = try record { record in
            for _ in 0..<98 { record.tally.record(.hit, nanoseconds: 100, bytes: 1) }
            record.tally.record(.restore, nanoseconds: 2_000_000, bytes: 1)
            // The first time, and again: the first is everybody's cost.
            record.tally.record(.load, nanoseconds: 900_000_000, bytes: 1)
            record.tally.record(.load, nanoseconds: 5_000_000, bytes: 1)
            record.tally.reloads.record(nanoseconds: 5_000_000)
            record.tally.losses = [.init(path: "a", reason: "x"), .init(path: "a", reason: "y")]
            record.tally.failures = 3
        }
        let score = Score(Entrant(.lru), record, isReal: true)
        #expect(score[.restoreStall] == 0.002)
        #expect(score[.reloadCost] == 0.005)
        #expect(score[.waited] == 0.007)
        #expect(score[.hitRate] == 0.98)
        #expect(score[.p50] == 100e-9)
        #expect(abs(try #require(score[.p99]) - 0.002) < 1e-5)
        #expect(abs(try #require(score[.max]) - 0.005) < 1e-5)
        #expect(score.lost == 1)
        #expect(score.failures == 3)
    }

    @Test func whatIsFreedIsAddedUpAndHeldAgainstWhatWasAsked() throws {
        let record = try record { record in
            // More has left memory than reclaims took.
            record.outflow.values = 12
            record.outflow.bytes = 160
            record.outflow.copiedBytes = 7
            record.steps = [
                step(1, asked: 10, claimed: 11, copied: 4),
                step(2, asked: 30, claimed: 33, copied: 0),
                // Nobody asked it for a number: no part of the share.
                step(3, asked: nil, claimed: 100, copied: 1),
                step(4, asked: 50, claimed: 5, copied: 0, origin: .memoryInfo),
            ]
        }
        let score = Score(Entrant(.ours), record, isReal: true)
        #expect(score[.evicted] == 12)
        #expect(score[.freed] == 160)
        #expect(score[.written] == 7)
        #expect(score[.returned] == 149)
        #expect(score[.reclaims] == 4)
        #expect(abs(try #require(score.freedOfAsked) - 1.1) < 1e-9)
        // In virtual time the process's memory says nothing.
        #expect(Score(Entrant(.ours), record, isReal: false)[.returned] == nil)
    }

    @Test func nothingMeasuredIsNothing() throws {
        let score = Score(Entrant(.ours), try record { _ in }, isReal: true)
        #expect(score[.hitRate] == nil)
        #expect(score[.p99] == nil)
        #expect(score.freedOfAsked == nil)
    }

    @Test func ofSeveralRunsEachFigureHasItsOwnMedian() throws {
        let runs = [(3.0, 0.1), (1.0, 0.9), (2.0, 0.5)].map { Score(.lru, values: [.waited: $0, .hitRate: $1]) }
        let median = try #require(Score(medianOf: runs))
        #expect(median[.waited] == 2)
        #expect(median[.hitRate] == 0.5)
        #expect(median[.written] == nil)
        #expect(Score(medianOf: []) == nil)
    }

    private func step(
        _ number: Int,
        asked: Int?,
        claimed: Int,
        copied: Int,
        origin: PressureCause.Origin = .simulated
    ) -> RunRecord.StepRecord {
        .reclaim(number, title: "warning", asked: asked, claimed: claimed, copied: copied, origin: origin)
    }
}

extension RunRecord.StepRecord {
    /// A step that freed something.
    static func reclaim(
        _ number: Int,
        title: String,
        asked: Int?,
        claimed: Int,
        copied: Int = 0,
        origin: PressureCause.Origin = .simulated
    ) -> RunRecord.StepRecord {
        let cause = PressureCause(origin: origin, source: "test", levelBefore: .normal, levelAfter: .critical)
        var report = EvictionReport.empty(cause)
        report.goal = asked.map(ByteCount.bytes)
        report.claimed = .bytes(claimed)
        report.returned = .bytes(claimed)
        report.copied = .bytes(copied)
        return RunRecord.StepRecord(
            number: number,
            title: title,
            start: .zero,
            duration: .zero,
            outcome: "",
            reclaim: ReclaimRecord(report, at: .zero, rssFall: nil)
        )
    }
}
