import PressureKitTestSupport
import Testing

@testable import PressureKit
@testable import PressureSignals

/// What stalls and events come to mean, on virtual time.
@Suite struct StallEvaluatorTests {
    /// An evaluator, the totals it is shown and the time.
    private struct Bench {
        var evaluator = StallEvaluator(thresholds: StallThresholds())
        var now = MonotonicInstant(nanoseconds: 3_600_000_000_000)
        var totals = StallTotals(some: 0, full: 0)
        var scope = StallReading.Scope.own
        var isArmed = true
        var headroom: Double?
        var host: Double?
        var waitsForDisk = false

        /// Lets time pass, in which tasks wait for so many milliseconds.
        @discardableResult
        mutating func pass(_ milliseconds: Int, some: Int = 0, full: Int = 0, fires: Bool = false) -> PressureLevel {
            now = now + .milliseconds(milliseconds)
            totals.some += some * 1000
            totals.full! += full * 1000
            let reading = StallReading(totals: totals, scope: scope, isArmed: isArmed, hasFired: fires)
            let left = MemoryLeft(least: headroom, host: host, waitsForDisk: waitsForDisk)
            evaluator.accept(reading, left: left, at: now)
            return evaluator.vote
        }
    }

    /// Pitfall 2: the kernel's first event is about all stall since boot.
    @Test func theFalseFirstRingIsRejectedByTheGrowth() {
        var bench = Bench()
        bench.totals.some = 86_400_000_000
        #expect(bench.pass(0) == .normal)
        #expect(bench.pass(200, some: 1, fires: true) == .normal)
        #expect(bench.pass(2_000, some: 148, fires: true) == .normal)
    }

    @Test func aTrueRingIsAWarningWithItsNumbers() {
        var bench = Bench()
        bench.pass(0)
        #expect(bench.pass(1_000, some: 150, fires: true) == .warning)
        #expect(bench.evaluator.proof?.stalled == .milliseconds(150))
        #expect(bench.evaluator.proof?.threshold == .milliseconds(150))
        #expect(bench.pass(1_000) == .warning, "for a window")
        #expect(bench.pass(1_100) == .normal)
    }

    /// Pitfall 29: with one busy task `full` is `some`, and warning must still come first.
    @Test func eachLineIsHeldAgainstItsOwnThreshold() {
        var bench = Bench()
        bench.pass(0)
        #expect(bench.pass(1_000, some: 160, full: 160, fires: true) == .warning)
        #expect(bench.pass(500, some: 150, full: 150, fires: true) == .critical)
        var other = Bench()
        other.pass(0)
        #expect(other.pass(1_000, some: 1_000, full: 100, fires: true) == .warning, "much of some is not much of full")
    }

    @Test func withoutARingGrowthOverALongTimeMustBeLargerInProportion() {
        var bench = Bench()
        bench.pass(0)
        #expect(bench.pass(5_000, some: 200) == .normal, "4 % of five seconds")
        var other = Bench()
        other.pass(0)
        #expect(other.pass(5_000, some: 400) == .warning, "8 %")
        var third = Bench()
        third.pass(0)
        #expect(third.pass(5_000, some: 200, fires: true) == .warning, "the trigger says: within a window")
    }

    /// Without a trigger: 10 % and 20 %.
    @Test func polledStallsHaveTheirOwnThresholds() {
        var bench = Bench()
        bench.isArmed = false
        bench.pass(0)
        #expect(bench.pass(2_000, some: 190) == .normal)
        #expect(bench.pass(2_000, some: 300, full: 100) == .warning)
        #expect(bench.pass(2_000, some: 900, full: 900) == .critical)
    }

    /// Pitfalls 7 and 16: the host's waiting is no news while memory is plentiful.
    @Test(
        arguments: [
            (StallReading.Scope.host, 0.5, PressureLevel.normal), (.above, 0.9, .normal), (.host, 0.49, .warning),
            (.above, 0.1, .warning), (.own, 0.25, .normal), (.own, 0.24, .warning), (.host, nil, .warning),
        ] as [(StallReading.Scope, Double?, PressureLevel)]
    )
    func strangersCountOnlyWhenMemoryIsNotPlentiful(scope: StallReading.Scope, headroom: Double?, level: PressureLevel)
    {
        var bench = Bench()
        bench.scope = scope
        bench.headroom = headroom
        bench.pass(0)
        #expect(bench.pass(1_000, some: 250, fires: true) == level)
    }

    /// Pitfall 16: a stream through the page cache makes its writer wait. A working set that does not fit does so all the
    /// time, however much of it is cache.
    @Test(arguments: [0.25, 0.9]) func withMemoryLeftOnlyThrashingCountsAndAsAWarning(headroom: Double) {
        var bench = Bench()
        bench.headroom = headroom
        bench.pass(0)
        for _ in 0..<20 { #expect(bench.pass(1_000, some: 300, full: 300, fires: true) == .normal) }
        for _ in 0..<4 { bench.pass(1_000, some: 950, full: 950, fires: true) }
        #expect(bench.evaluator.vote == .warning)
    }

    /// While a fifth of the limit waits to be written, tasks wait for the disk, however long; if memory is short besides, for both.
    @Test(arguments: [(0.25, PressureLevel.normal), (0.24, .critical)])
    func whatIsWaitedForADiskIsNoThrashing(headroom: Double, level: PressureLevel) {
        var bench = Bench()
        (bench.headroom, bench.waitsForDisk) = (headroom, true)
        bench.pass(0)
        for _ in 0..<4 { bench.pass(1_000, some: 950, full: 950, fires: true) }
        #expect(bench.evaluator.vote == level)
    }

    /// A limit of ours that is half used is no reason to listen to a machine that has memory: its tasks wait in limits, in
    /// ours or in others'.
    @Test(arguments: [0.1, 0.3, 0.49]) func theMachinesWaitingIsHeldAgainstTheMachinesMemory(headroom: Double) {
        for (host, level) in [(0.8, PressureLevel.normal), (0.5, .normal), (0.49, .warning)] {
            var bench = Bench()
            (bench.scope, bench.headroom, bench.host) = (.host, headroom, host)
            bench.pass(0)
            for _ in 0..<20 { #expect(bench.pass(1_000, some: 150, full: 50, fires: true) == level) }
        }
        var thrashing = Bench()
        (thrashing.scope, thrashing.headroom, thrashing.host) = (.host, headroom, 0.8)
        thrashing.pass(0)
        for _ in 0..<4 { thrashing.pass(1_000, some: 950, full: 950, fires: true) }
        #expect(thrashing.evaluator.vote == .warning)
    }

    @Test func totalsThatGoBackAreAnotherCgroups() {
        var bench = Bench()
        bench.totals.some = 5_000_000
        bench.pass(0)
        bench.totals.some = 0
        #expect(bench.pass(1_000, fires: true) == .normal)
        #expect(bench.pass(1_000, some: 200, fires: true) == .warning)
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func aVoteIsNeverWithoutItsGrowth(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bench = Bench()
        bench.pass(0)
        var grown: [(at: MonotonicInstant, milliseconds: Int)] = []
        for _ in 0..<2_000 {
            let some = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 0...120, using: &random) : 0
            let length = Int.random(in: max(1, some)...800, using: &random)
            let vote = bench.pass(length, some: some, fires: Bool.random(using: &random))
            grown.append((bench.now, some))
            let recent = grown.filter { bench.now - $0.at < .milliseconds(2 * 2_000 + 2_000 + 800) }
            if vote > .normal {
                #expect(recent.reduce(0) { $0 + $1.milliseconds } >= 150, "seed \(seed)")
            }
        }
    }
}

@Suite struct EventsEvaluatorTests {
    private struct Bench {
        var evaluator = EventsEvaluator()
        var now = MonotonicInstant(nanoseconds: 3_600_000_000_000)
        var counters = EventCounters(high: 100, max: 200, oom: 3, oomKill: 1)
        var headroom: Double? = 0.1

        @discardableResult
        mutating func pass(_ milliseconds: Int, high: Int = 0, max: Int = 0, oom: Int = 0) -> PressureLevel {
            now = now + .milliseconds(milliseconds)
            counters.high += high
            counters.max += max
            counters.oom += oom
            evaluator.accept(counters, headroom: headroom, at: now)
            return evaluator.vote
        }
    }

    @Test func growthIsAWarningForTwoSeconds() {
        var bench = Bench()
        #expect(bench.pass(0) == .normal, "what was counted before is no news")
        #expect(bench.pass(100, high: 1) == .warning)
        #expect(bench.evaluator.proof == EventCounters(high: 1))
        #expect(bench.pass(1_900) == .warning)
        #expect(bench.pass(200) == .normal)
    }

    /// Pitfall 12 and the design's "no cry": a cgroup full of page cache counts `max` for ever.
    @Test func whileMemoryIsLeftHighAndMaxMeanNothing() {
        var bench = Bench()
        bench.headroom = 0.25
        bench.pass(0)
        for _ in 0..<100 { #expect(bench.pass(500, high: 7, max: 1000) == .normal) }
        #expect(!bench.evaluator.hasGrown)
    }

    /// Pitfall 10: above `memory.high` without swap a process is slowed down to a standstill, and never killed.
    @Test func growthInThreeWindowsInARowIsCritical() {
        var bench = Bench()
        bench.pass(0)
        var levels: [PressureLevel] = []
        for _ in 0..<6 { levels.append(bench.pass(1_000, high: 50)) }
        #expect(levels.first == .warning)
        #expect(levels.last == .critical)
        var slow = Bench()
        slow.pass(0)
        for _ in 0..<6 { #expect(slow.pass(4_000, high: 50) == .warning, "with pauses it is not sustained") }
    }

    @Test func anEndIsCriticalHoweverMuchIsLeft() {
        var bench = Bench()
        bench.headroom = 0.9
        bench.pass(0)
        #expect(bench.pass(10, oom: 1) == .critical)
    }

    /// Pitfall 9: old kernels notify first and count later.
    @Test func aRingWithoutGrowthIsNoMistake() {
        var bench = Bench()
        bench.pass(0)
        #expect(bench.pass(1) == .normal)
        #expect(bench.pass(50, max: 1) == .warning)
    }

    @Test func countersThatGoBackAreAnotherCgroups() {
        var bench = Bench()
        bench.pass(0)
        bench.counters = EventCounters()
        #expect(bench.pass(100) == .normal)
        #expect(bench.pass(100, high: 1) == .warning)
    }
}

/// Time to exhaustion, and what is done about it.
@Suite struct ForesightTests {
    @Test func aSteadyFallGivesItsRate() {
        var rate = FillRate()
        for step in 0...40 {
            rate.note(.mebibytes(1000 - 10 * step), at: MonotonicInstant(nanoseconds: Int64(step) * 50_000_000))
        }
        #expect(abs(rate.bytesPerSecond / Double(200 << 20) - 1) < 0.01)
        #expect(rate.exhaustion(of: .mebibytes(100)).map { abs($0.nanoseconds - 500_000_000) < 10_000_000 } ?? false)
    }

    /// A buffer that is taken and given back, over and over, is no trend; the same taken once is seen at once.
    @Test func whatComesBackIsNoFall() {
        var rate = FillRate()
        var step: Int64 = 0
        func note(_ mebibytes: Int) {
            rate.note(.mebibytes(mebibytes), at: MonotonicInstant(nanoseconds: step * 5_000_000))
            step += 1
        }
        for turn in 0..<1000 { note(500 - turn % 2) }
        #expect(rate.net < 6e6)
        #expect(rate.momentary < 20e6)
        let before = rate.peak
        for taken in 1...4 { note(500 - taken) }
        #expect(rate.momentary > 50e6, "200 MiB a second, for 20 ms")
        #expect(rate.momentary > 2 * rate.net)
        #expect(rate.peak <= before)
    }

    @Test func standingStillForgetsTheFall() {
        var rate = FillRate()
        rate.note(.mebibytes(1000), at: MonotonicInstant(nanoseconds: 0))
        rate.note(.mebibytes(500), at: MonotonicInstant(nanoseconds: 100_000_000))
        for second in 1...10 {
            rate.note(.mebibytes(500), at: MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000))
        }
        #expect(rate.exhaustion(of: .mebibytes(500)) == nil)
        #expect(!rate.isFalling)
    }

    /// 400 MiB of 1,000 left are no shortage; gone in 130 ms they are, when a reclaim takes 200.
    @Test func memoryThatIsGoneBeforeAReclaimEndsIsCriticalAlready() throws {
        var bench = ClassifierBench()
        var decision: PressureDecision?
        var available = 900
        while decision == nil, available > 0 {
            decision = bench.step(after: .milliseconds(10), available: available)
            available -= 30
        }
        let cause = try #require(decision?.cause)
        #expect(cause.levelAfter == .critical)
        #expect(try #require(cause.available) > .mebibytes(250), "long before the threshold of 100")
        guard case .exhaustion(let time)? = cause.evidence else {
            Issue.record("no evidence in \(cause)")
            return
        }
        #expect(time <= .milliseconds(200))
        #expect(decision?.reclaim?.bytes ?? .zero > .zero)
    }

    /// A file that is written makes a fifth of a limit dirty at the speed of memory, and no more, and the next one does so
    /// again: half is left before it and 30 % after, in 70 ms. What the kernel has not written yet is no trend.
    @Test(arguments: [600, 500, 490, 460]) func aFileThatIsWrittenIsNoTrend(before: Int) {
        var bench = ClassifierBench()
        bench.step(ClassifierBench.headroom(before, at: bench.now))
        for _ in 0..<10 {
            for unwritten in stride(from: 0, through: 200, by: 30) {
                let now = bench.now + .milliseconds(10)
                let reading = ClassifierBench.headroom(before - unwritten, unwritten: unwritten, at: now)
                #expect(bench.step(after: .milliseconds(10), reading) == nil)
            }
        }
        #expect(bench.level == .normal)
    }

    /// Page cache that is used again counts half from then on. Nobody has taken that half.
    @Test(arguments: [500, 460]) func aFileThatIsReadAgainIsNoTrend(before: Int) {
        var bench = ClassifierBench()
        bench.step(ClassifierBench.headroom(before, at: bench.now))
        for _ in 0..<10 {
            for kept in stride(from: 0, through: 200, by: 30) {
                let reading = ClassifierBench.headroom(before - kept, kept: kept, at: bench.now + .milliseconds(10))
                #expect(bench.step(after: .milliseconds(10), reading) == nil)
            }
        }
        #expect(bench.level == .normal)
    }

    /// The same fall with nothing that would come back: a true one, at the first of these.
    @Test(arguments: [490, 460]) func whatDoesNotComeBackIsATrend(before: Int) {
        var bench = ClassifierBench()
        bench.step(ClassifierBench.headroom(before, at: bench.now))
        for _ in 0..<10 {
            for taken in stride(from: 0, through: 200, by: 30) {
                bench.step(after: .milliseconds(10), available: before - taken)
            }
        }
        #expect(bench.level == .critical)
    }

    /// A slow disk keeps whoever writes waiting all the time, also a moment after the last is written; four seconds later tasks
    /// that wait all the time wait for memory.
    @Test func waitingForADiskIsForgottenAfterTwoWindows() {
        var bench = ClassifierBench(sources: 2)
        var stalled = 0
        func step(unwritten: Int) {
            let now = bench.now + .milliseconds(500)
            stalled += 480_000
            let stall = StallReading(
                totals: StallTotals(some: stalled, full: stalled),
                scope: .own,
                isArmed: true,
                hasFired: true
            )
            let reading = SignalReading(origin: .stall, source: "stalls", measure: .stall(stall), takenAt: now)
            let headroom = ClassifierBench.headroom(500 - unwritten, unwritten: unwritten, at: now)
            bench.step(after: .milliseconds(500), headroom, reading)
        }
        for _ in 0..<20 { step(unwritten: 200) }
        for _ in 0..<8 { step(unwritten: 0) }
        #expect(bench.level == .normal)
        for _ in 0..<3 { step(unwritten: 0) }
        #expect(bench.level == .warning)
        for _ in 0..<20 { step(unwritten: 199) }
        #expect(bench.level == .warning, "less than a fifth keeps nobody waiting")
    }

    /// Waiting for memory beside a file that is written: the writer waits for the disk, and that is no shortage.
    @Test(arguments: [(200, PressureLevel.normal), (0, .warning)])
    func whatIsUnwrittenIsNoProofOfAShortage(unwritten: Int, level: PressureLevel) {
        var bench = ClassifierBench(sources: 2)
        for stalled in 0..<3 {
            let now = bench.now + .seconds(1)
            let stall = StallReading(
                totals: StallTotals(some: stalled * 250_000, full: 0),
                scope: .own,
                isArmed: true,
                hasFired: stalled > 0
            )
            bench.step(
                after: .seconds(1),
                ClassifierBench.headroom(210, unwritten: unwritten, at: now),
                SignalReading(origin: .stall, source: "stalls", measure: .stall(stall), takenAt: now)
            )
        }
        #expect(bench.level == level)
    }

    /// A machine that takes seconds to reclaim must begin seconds before.
    @Test func theTimeIsThatOfReclaimsThatWereMeasured() {
        func fall(reclaims: Duration) -> ByteCount? {
            var bench = ClassifierBench()
            for _ in 0..<20 {
                bench.classifier.noteReclaim(at: .warning, duration: reclaims, returned: .mebibytes(50), end: bench.now)
            }
            for available in stride(from: 900, to: 0, by: -10) {
                let decision = bench.step(after: .milliseconds(40), available: available)
                if decision?.level == .critical { return decision?.cause.available }
            }
            return nil
        }
        let quick = fall(reclaims: .milliseconds(10))
        let slow = fall(reclaims: .seconds(3))
        #expect(quick! < slow!)
        #expect(slow! > .mebibytes(400))
    }

    @Test func oneJumpIsNoTrend() {
        var bench = ClassifierBench()
        bench.step(available: 900)
        #expect(bench.step(after: .milliseconds(20), available: 450) == nil)
        let decisions = bench.hold(available: 450, for: .seconds(5), every: .milliseconds(20))
        #expect(decisions.isEmpty)
    }

    /// A shortage that goes on eats what a reclaim gave before the pause is over.
    @Test func aCriticalFallIsReclaimedAgainWithinThePause() {
        var bench = ClassifierBench()
        bench.settle(available: 90)
        bench.now = bench.now + .milliseconds(100)
        bench.classifier.noteReclaim(
            at: .critical,
            duration: .milliseconds(100),
            returned: .mebibytes(60),
            end: bench.now
        )
        var again: MonotonicInstant?
        let end = bench.now
        var available = 100
        while again == nil, available > 0 {
            available -= 5
            if bench.step(after: .milliseconds(10), available: available)?.reclaim != nil { again = bench.now }
        }
        #expect(again.map { $0 - end < .milliseconds(200) } ?? false, "20 times the cost would be two seconds")
    }

    @Test func afterAReclaimMemoryIsMeasuredAgainAfterItHasSettled() {
        var bench = ClassifierBench()
        bench.settle(available: 190)
        bench.classifier.noteReclaim(
            at: .warning,
            duration: .milliseconds(10),
            returned: .mebibytes(60),
            end: bench.now
        )
        bench.step(available: 190)
        #expect(bench.nextPoll <= .milliseconds(200))
    }
}
