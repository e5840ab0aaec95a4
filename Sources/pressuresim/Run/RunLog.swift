import PressureKit
import ReportPages
import ScenarioLanguage

/// A record that several threads write to, and the log of events beside it.
final class RunLog: Sendable {
    private let record: Lock<RunRecord>
    private let start: Lock<MonotonicInstant>
    private let clock: any MonotonicClock
    /// Told of what is recorded.
    let events: EventLog

    init(
        scenario: Scenario,
        file: String,
        clock: any MonotonicClock = SystemClock(),
        events: EventLog = EventLog()
    ) {
        record = Lock(RunRecord(scenario: scenario, file: file))
        start = Lock(clock.now())
        self.clock = clock
        self.events = events
    }

    /// What was recorded so far.
    var current: RunRecord { record.withLock { $0 } }

    /// The phase that is played; `nil` before the first.
    var phase: String? { record.withLock { $0.phase } }

    /// Sets the origin of all times.
    func begin() { start.withLock { $0 = clock.now() } }

    /// The time since the timeline began.
    var elapsed: Duration { clock.now() - start.withLock { $0 } }

    /// Changes the record.
    func change(_ body: (inout RunRecord) -> Void) { record.withLock { body(&$0) } }

    /// Marks the curve.
    func mark(_ kind: Timeline.Mark.Kind, at time: Duration, _ text: String) {
        change { $0.timeline.marks.append(.init(at: time, kind: kind, text: text)) }
    }

    /// Adds a step that has ended.
    func add(_ step: RunRecord.StepRecord) {
        change { $0.steps.append(step) }
        guard let number = step.number else { return }
        events.note(
            "done",
            at: step.start + step.duration,
            ["step": "\(events.number(number))", "took": step.duration.inWords, "outcome": step.outcome]
        )
    }

    /// Adds what threads saw in their accesses, and of that what parts of the caches had; notes what went wrong.
    func add(_ tally: AccessTally, parts: [Expectation.Part: AccessTally] = [:]) {
        change { record in
            record.tally.add(tally)
            if let phase = record.phase { record.parts[.phase(phase), default: AccessTally()].add(tally) }
            for (part, tally) in parts { record.parts[part, default: AccessTally()].add(tally) }
        }
        for loss in tally.losses { events.note("lost", at: elapsed, ["path": loss.path, "reason": loss.reason]) }
        for complaint in tally.complaints { events.note("failure", at: elapsed, ["message": complaint]) }
    }

    /// Adds a reclaim, with the latencies of the values that it evicted. One that several steps have joined is told, and
    /// counted, under the first of them that hears of its end; the others say so.
    func add(_ report: EvictionReport, number: Int?, title: String, at start: Duration, rssFall: ByteCount?) {
        let reclaim = ReclaimRecord(report, at: start, rssFall: rssFall)
        var step = RunRecord.StepRecord(
            number: number,
            title: title,
            start: start,
            duration: report.duration,
            outcome: Self.outcome(of: reclaim),
            reclaim: reclaim,
            phase: phase
        )
        let teller = record.withLock { record -> RunRecord.StepRecord? in
            if report.number > 0, let teller = record.toldUnder[report.number] { return teller }
            if report.number > 0 { record.toldUnder[report.number] = step }
            for one in report.evicted {
                // Those of one cache are counted with their mean.
                let count = max(1, one.count)
                let mean = (one.copyDuration + one.releaseDuration).nanoseconds / Int64(count)
                for _ in 0..<one.count { record.evictions.record(nanoseconds: mean) }
                let size = one.bytes.bytes / count
                record.evictionsBySize.record(nanoseconds: mean, byteCount: size, times: one.count)
            }
            return nil
        }
        if let teller {
            step.reclaim = nil
            step.outcome = "shared the reclaim of \"\(teller.title)\""
        } else {
            mark(.reclaim, at: start, "\(step.outcome), \(report.claimed)")
            events.note(reclaim, number: number, at: start + report.duration, took: report.duration)
        }
        add(step)
    }

    private static func outcome(of reclaim: ReclaimRecord) -> String {
        let out = Quantities.count(reclaim.values(), "value") + " out"
        guard !reclaim.skipped.isEmpty else { return out }
        return "\(out), \(Quantities.count(reclaim.skipped.reduce(0) { $0 + $1.values })) stayed"
    }
}

extension EventLog {
    /// What the accesses of a step came to.
    func note(_ tally: AccessTally, at time: Duration) {
        func count(_ outcome: AccessOutcome) -> String { "\(tally.latencies[outcome]?.count ?? 0)" }
        func total(_ outcome: AccessOutcome) -> String { "\(tally.latencies[outcome]?.total ?? 0)ns" }
        note(
            "accesses",
            at: time,
            [
                "hits": count(.hit), "loads": count(.load), "loading": total(.load), "restores": count(.restore),
                "restoring": total(.restore), "restored": "\(tally.restoredBytes)",
                "refused": "\(tally.loaderFailures)", "failed": "\(tally.failures)",
            ]
        )
    }

    /// A reclaim, with what went, what stayed, and what failed.
    ///
    /// What came back to the system is not among it: that is measured, and no two runs measure the same.
    func note(_ reclaim: ReclaimRecord, number: Int?, at end: Duration, took duration: Duration) {
        guard isActive else { return }
        note(
            "reclaim",
            at: end,
            [
                "step": number.map { "\(self.number($0))" },
                "cause": reclaim.cause,
                "took": duration.inWords,
                "goal": reclaim.goalBytes.map { "\($0)" },
                "claimed": "\(reclaim.claimedBytes)",
                "copied": "\(reclaim.copiedBytes)",
                "stored": "\(reclaim.storedBytes)",
            ]
        )
        for group in reclaim.evicted {
            note(
                "evicted",
                at: end,
                [
                    "path": group.path, "way": group.outcome, "values": "\(group.values)",
                    "bytes": "\(group.bytes)", "stored": "\(group.storedBytes)",
                ]
            )
        }
        for skip in reclaim.skipped {
            note(
                "stayed",
                at: end,
                ["reason": skip.reason, "values": "\(skip.values)", "bytes": "\(skip.bytes)"]
            )
        }
        for failure in reclaim.failures { note("failure", at: end, ["message": failure]) }
    }
}

extension Duration {
    /// Whole nanoseconds with their unit, as the event log has them.
    var inWords: String { "\(nanoseconds)ns" }
}
