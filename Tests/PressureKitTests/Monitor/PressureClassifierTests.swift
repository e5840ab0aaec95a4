#if !THREAD_SANITIZER  // One thread at a time.
import CAllocationCounter
import PressureKit
import Testing

@Suite struct PressureClassifierTests {
    // MARK: Up

    @Test func plentyIsNormalAndSaysNothing() {
        var bench = ClassifierBench()
        #expect(bench.hold(available: 900, for: .seconds(60)).isEmpty)
        #expect(bench.level == .normal)
    }

    @Test func aCrossingRisesWithItsSecondSample() throws {
        var bench = ClassifierBench()
        bench.step(available: 900)
        #expect(bench.step(after: .seconds(1), available: 190) == nil)
        #expect(bench.level == .normal)
        #expect(bench.nextPoll <= .milliseconds(100), "the second look comes soon")
        let toldDecision = bench.step(after: .milliseconds(100), available: 190)
        let decision = try #require(toldDecision)
        #expect(decision.level == .warning)
        #expect(decision.levelChanged)
        #expect(decision.reclaim?.level == .warning)
    }

    @Test func aSpikeOfOneSampleIsForgotten() {
        var bench = ClassifierBench()
        for _ in 0..<50 {
            #expect(bench.step(after: .milliseconds(100), available: 50) == nil)
            #expect(bench.step(after: .milliseconds(100), available: 900) == nil)
        }
        #expect(bench.level == .normal)
    }

    /// Somebody notifies the monitor's mark all the time: many samples at once are still one.
    @Test func samplesInOneInstantProveNothing() {
        var bench = ClassifierBench()
        for _ in 0..<50 { #expect(bench.step(available: 190) == nil) }
        #expect(bench.level == .normal)
    }

    /// 4 GiB/s take half of 190 MiB in 23 ms, and half of 20 MiB in less than the shortest poll.
    @Test(arguments: [(190, 23), (100, 12), (20, 5), (0, 5)])
    func theLessIsLeftTheSoonerTheSecondLook(available: Int, milliseconds: Int) {
        var bench = ClassifierBench()
        bench.step(available: available)
        #expect(abs(bench.nextPoll.nanoseconds / 1_000_000 - Int64(milliseconds)) <= 1)
        #expect(bench.step(after: bench.nextPoll, available: available)?.levelChanged == true)
    }

    @Test func aDeepFallGoesStraightToCritical() throws {
        var bench = ClassifierBench()
        let toldDecision = bench.settle(available: 40)
        let decision = try #require(toldDecision)
        #expect(decision.cause.levelBefore == .normal)
        #expect(decision.level == .critical)
    }

    /// The first sample shows warning, the second critical: only warning was seen twice.
    @Test func eachLevelNeedsItsOwnSecondSample() {
        var bench = ClassifierBench()
        bench.step(available: 190)
        #expect(bench.step(after: .milliseconds(100), available: 90)?.level == .warning)
        #expect(bench.step(after: .milliseconds(100), available: 90)?.level == .critical)
    }

    @Test func aDemandNeedsNoSecondSample() {
        var bench = ClassifierBench()
        let decision = bench.step(ClassifierBench.demand(.critical, freeing: .mebibytes(7), at: bench.now))
        #expect(decision?.level == .critical)
        #expect(decision?.reclaim?.bytes == .mebibytes(7))
        #expect(decision?.cause.origin == .simulated)
        #expect(decision?.cause.threshold == nil)
    }

    // MARK: Down

    @Test func theLevelFallsAfterTheDwellAndOneAtATime() {
        var bench = ClassifierBench()
        bench.settle(available: 50)
        let changes = bench.hold(available: 900, for: .seconds(60)).map { ($0.at, $0.decision) }
        #expect(changes.map(\.0) == [11_000, 21_000], "the first calm sample is after 1 s, then 10 s, then 10 s")
        #expect(changes.map(\.1.cause.levelBefore) == [.critical, .warning])
        #expect(changes.map(\.1.level) == [.warning, .normal])
        #expect(changes.allSatisfy { $0.1.reclaim == nil })
    }

    @Test func aRelapseWithinTheDwellStartsItAnew() {
        var bench = ClassifierBench()
        bench.settle(available: 190)
        #expect(bench.hold(available: 900, for: .seconds(9)).isEmpty)
        bench.settle(after: .milliseconds(500), available: 190)
        #expect(bench.hold(available: 900, for: .seconds(9)).isEmpty)
        #expect(bench.level == .warning)
        #expect(bench.hold(available: 900, for: .seconds(3)).map(\.decision.level) == [.normal])
    }

    @Test func withinTheBandTheLevelStays() {
        var bench = ClassifierBench()
        bench.settle(available: 190)
        _ = bench.hold(available: 240, for: .seconds(120))
        #expect(bench.level == .warning)
        _ = bench.hold(available: 251, for: .seconds(12))
        #expect(bench.level == .normal)
    }

    @Test func thePollComesNoLaterThanTheEndOfTheDwell() {
        var bench = ClassifierBench()
        bench.settle(available: 190)
        bench.step(after: .seconds(1), available: 900)
        bench.step(after: .milliseconds(9_900), available: 900)
        #expect(bench.nextPoll == .milliseconds(100))
    }

    // MARK: Several sources

    @Test func theHighestVoteWins() {
        var bench = ClassifierBench(sources: 2)
        let calm = ClassifierBench.headroom(900, at: bench.now)
        let decision = bench.step(calm, ClassifierBench.demand(.warning, at: bench.now))
        #expect(decision?.level == .warning)
        #expect(decision?.cause.source == "demand")
    }

    /// The second source never was below critical's enter: the first one's recovery must not hang on its band.
    @Test func oneSourcesBandDoesNotHoldAnothersLevel() {
        var bench = ClassifierBench(sources: 2)
        for _ in 0..<3 {
            bench.step(
                after: .milliseconds(100),
                ClassifierBench.headroom(50, at: bench.now),
                ClassifierBench.headroom(120, at: bench.now)
            )
        }
        #expect(bench.level == .critical)
        for _ in 0..<12 {
            bench.step(
                after: .seconds(1),
                ClassifierBench.headroom(900, at: bench.now),
                ClassifierBench.headroom(120, at: bench.now)
            )
        }
        #expect(bench.level == .warning)
    }

    @Test func theTighterHeadroomIsTheOneReported() {
        var bench = ClassifierBench(sources: 3)
        bench.step(
            ClassifierBench.headroom(900, at: bench.now),
            ClassifierBench.headroom(300, at: bench.now),
            nil
        )
        #expect(bench.classifier.headroom?.available == .mebibytes(300))
        #expect(abs(bench.classifier.score - 700.0 / 800 / 3) < 1e-9)
    }

    // MARK: Silence

    @Test func aSilentSourceKeepsItsVoteForAWhileButAsksForNothing() {
        var bench = ClassifierBench()
        bench.settle(available: 50)
        var decisions: [PressureDecision] = []
        for _ in 0..<29 {
            if let decision = bench.step(after: .seconds(1), nil) { decisions.append(decision) }
        }
        #expect(decisions.isEmpty)
        #expect(bench.level == .critical)
        for _ in 0..<22 {
            if let decision = bench.step(after: .seconds(1), nil) { decisions.append(decision) }
        }
        #expect(decisions.map(\.level) == [.warning, .normal])
        #expect(bench.classifier.score == 0)
    }

    @Test func withoutAnyReadingNothingIsSaid() {
        var bench = ClassifierBench()
        for _ in 0..<100 { #expect(bench.step(after: .seconds(5), nil) == nil) }
        #expect(bench.nextPoll == .seconds(5))
        #expect(bench.classifier.headroom == nil)
        var none = PressureClassifier(thresholds: PressureThresholds(), sources: 0)
        #expect(none.step([], at: bench.now).decision == nil)
    }

    // MARK: Cause

    @Test func theCauseSaysWhyItRose() throws {
        var bench = ClassifierBench()
        let toldDecision = bench.settle(available: 90)
        let decision = try #require(toldDecision)
        #expect(
            decision.cause
                == PressureCause(
                    origin: .memoryInfo,
                    source: "test",
                    available: .mebibytes(90),
                    limit: .mebibytes(1000),
                    threshold: .mebibytes(100),
                    sampleAge: .zero,
                    levelBefore: .normal,
                    levelAfter: .critical
                )
        )
    }

    @Test func theCauseOfAFallNamesTheThresholdThatWasLeft() {
        var bench = ClassifierBench()
        bench.settle(available: 190)
        let fall = bench.hold(available: 300, for: .seconds(12)).last?.decision
        #expect(fall?.cause.threshold == .mebibytes(250))
        #expect(fall?.cause.available == .mebibytes(300))
    }

    @Test func theCauseSaysHowOldTheSampleWas() {
        var bench = ClassifierBench()
        let old = ClassifierBench.demand(.warning, at: bench.now)
        #expect(bench.step(after: .milliseconds(250), old)?.cause.sampleAge == .milliseconds(250))
    }

    // MARK: Cost

    /// P10: a calm step allocates nothing; neither does one under pressure that has nothing new to say.
    @Test(arguments: [900, 190, 50])
    func aStepAllocatesNothing(available: Int) {
        var bench = ClassifierBench(sources: 2)
        var readings: [SignalReading?] = [nil, ClassifierBench.headroom(available, at: bench.now)]
        for _ in 0..<3 {
            bench.now = bench.now + .milliseconds(100)
            _ = bench.classifier.step(readings, at: bench.now)
        }
        readings[0] = ClassifierBench.demand(.normal, at: bench.now)
        // The first step with a demand may make the runtime build what it builds on first use.
        _ = bench.classifier.step(readings, at: bench.now)
        let before = pk_thread_allocations()
        for _ in 0..<100 {
            bench.now = bench.now + .seconds(1)
            _ = bench.classifier.step(readings, at: bench.now)
        }
        #expect(pk_thread_allocations() - before == 0)
    }
}
#endif
