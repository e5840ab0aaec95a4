#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import Testing

/// When reclaim is asked for, and for how much.
@Suite struct ReclaimWishTests {
    // MARK: Again and again

    @Test(arguments: [(190, 10_000), (50, 5_000)] as [(Int, Int64)])
    func whileALevelLastsReclaimIsAskedForAgain(available: Int, period: Int64) {
        var bench = ClassifierBench()
        bench.settle(available: available)
        let wishes = bench.hold(available: available, for: .seconds(60))
        #expect(wishes.map(\.at) == Array(stride(from: period, through: 60_000, by: Int64.Stride(period))))
        #expect(wishes.allSatisfy { !$0.decision.levelChanged && $0.decision.reclaim != nil })
    }

    @Test func whenTheCauseIsGoneNothingIsAskedForDuringTheDwell() {
        var bench = ClassifierBench()
        bench.settle(available: 50)
        let decisions = bench.hold(available: 900, for: .seconds(60))
        #expect(decisions.allSatisfy { $0.decision.reclaim == nil })
    }

    @Test func afterAFallTheLowerLevelAsksInItsOwnTime() {
        var bench = ClassifierBench()
        bench.settle(available: 50)
        let decisions = bench.hold(available: 180, for: .seconds(25))
        #expect(decisions.map(\.decision.level) == [.warning, .warning, .warning])
        #expect(decisions.map { $0.decision.reclaim != nil } == [false, true, true])
    }

    // MARK: The pause after a reclaim

    /// How long it took, what it returned, the level, and after how long reclaim may be asked for again.
    @Test(
        arguments: [
            (Duration.milliseconds(10), 100, PressureLevel.critical, 5_000, "the repetition is longer than the pause"),
            (.milliseconds(500), 100, .critical, 10_000, "20 times the cost"),
            (.seconds(2), 100, .critical, 40_000, "20 times the cost"),
            (.milliseconds(10), 0, .critical, 30_000, "it returned nothing"),
            (.seconds(2), 0, .critical, 40_000, "it returned nothing, and cost much"),
            (.milliseconds(10), 100, .warning, 10_000, "the repetition is longer than the pause"),
            (.seconds(1), 100, .warning, 20_000, "20 times the cost"),
        ] as [(Duration, Int, PressureLevel, Int64, String)]
    )
    func aCostlyOrFruitlessReclaimIsFollowedByAPause(
        cost: Duration,
        returned: Int,
        level: PressureLevel,
        pause: Int64,
        why: String
    ) {
        var bench = ClassifierBench()
        let available = level == .critical ? 50 : 190
        bench.settle(available: available)
        bench.classifier.noteReclaim(at: level, duration: cost, returned: .mebibytes(returned), end: bench.now)
        let next = bench.hold(available: available, for: .seconds(60)).first
        #expect(next?.at == pause, "\(why)")
    }

    /// Reclaims that others asked for, one after the other, do not put off what the monitor asks for.
    @Test func whatOthersAskForIsNoPause() {
        var bench = ClassifierBench()
        bench.settle(available: 90)
        bench.classifier.noteReclaim(
            at: .critical,
            duration: .milliseconds(10),
            returned: .mebibytes(50),
            end: bench.now
        )
        var wishes = 0
        for available in stride(from: 89, to: 0, by: -1) {
            bench.classifier.noteReclaim(at: .normal, duration: .milliseconds(2), returned: .zero, end: bench.now)
            if bench.step(after: .milliseconds(10), available: available)?.reclaim != nil { wishes += 1 }
        }
        #expect(wishes > 0, "gone in 900 ms")
    }

    /// What warning spared may have to go at critical.
    @Test func aFruitlessWarningDoesNotHoldBackCritical() {
        var bench = ClassifierBench()
        bench.settle(available: 190)
        bench.classifier.noteReclaim(at: .warning, duration: .seconds(5), returned: .zero, end: bench.now)
        #expect(bench.settle(after: .milliseconds(200), available: 50)?.reclaim?.level == .critical)
    }

    /// The level is told at once, and the wish follows when the pause is over.
    @Test func aRiseWithinThePauseIsToldWithoutAWish() throws {
        var bench = ClassifierBench()
        bench.settle(available: 190)
        bench.classifier.noteReclaim(at: .warning, duration: .seconds(3), returned: .mebibytes(100), end: bench.now)
        #expect(bench.hold(available: 900, for: .seconds(12)).map(\.decision.level) == [.normal])
        let toldRise = bench.settle(available: 190)
        let rise = try #require(toldRise)
        #expect(rise.levelChanged)
        #expect(rise.reclaim == nil)
        let toldWish = bench.hold(available: 190, for: .seconds(60)).first
        let wish = try #require(toldWish)
        // 12.1 s of the 60 s are over.
        #expect(wish.at == 48_000)
        #expect(wish.decision.reclaim != nil)
    }

    /// Backgrounding, or a reclaim the app asked for, costs no one a warning.
    @Test func aReclaimAtNormalDelaysNothing() {
        var bench = ClassifierBench()
        bench.classifier.noteReclaim(at: .normal, duration: .seconds(5), returned: .zero, end: bench.now)
        #expect(bench.settle(available: 190)?.reclaim != nil)
    }

    @Test func thePollComesNoLaterThanTheNextWish() {
        var bench = ClassifierBench()
        bench.settle(available: 50)
        bench.step(after: .milliseconds(4_800), available: 50)
        #expect(bench.nextPoll == .milliseconds(200))
    }

    // MARK: How much

    @Test func theGoalComesFromTheSampleAndCarriesItsTime() {
        var bench = ClassifierBench()
        let reclaim = bench.settle(after: .seconds(3), available: 190)?.reclaim
        #expect(reclaim == ReclaimGoal(level: .warning, bytes: .mebibytes(60), takenAt: bench.now))
    }

    /// The reading is older than the reclaim: what the reclaim returned is not in it.
    @Test func bytesFreedSinceTheSampleAreTakenOff() {
        var bench = ClassifierBench()
        let sample = ClassifierBench.demand(.warning, freeing: .mebibytes(100), at: bench.now)
        #expect(bench.step(sample)?.reclaim?.bytes == .mebibytes(100))
        bench.classifier.noteFreed(.mebibytes(30), at: bench.now + .seconds(1))
        bench.classifier.noteReclaim(
            at: .warning,
            duration: .milliseconds(1),
            returned: .mebibytes(20),
            end: bench.now + .seconds(2)
        )
        #expect(bench.step(after: .seconds(12), sample)?.reclaim?.bytes == .mebibytes(50))
        bench.classifier.noteFreed(.mebibytes(50), at: bench.now)
        for _ in 0..<60 { #expect(bench.step(after: .seconds(1), sample) == nil, "all that was wanted is free") }
    }

    @Test func bytesFreedBeforeTheSampleAreInIt() {
        var bench = ClassifierBench()
        bench.classifier.noteFreed(.mebibytes(500), at: bench.now)
        #expect(bench.settle(after: .milliseconds(1), available: 190)?.reclaim?.bytes == .mebibytes(60))
    }

    @Test(arguments: [(10, 60), (80, 80)])
    func ofTwoSourcesTheLargerGoalCounts(demanded: Int, wanted: Int) {
        for demandComesFirst in [true, false] {
            var bench = ClassifierBench(sources: 2)
            bench.step(ClassifierBench.headroom(190, at: bench.now), ClassifierBench.headroom(190, at: bench.now))
            let now = bench.now + .milliseconds(100)
            let demand = ClassifierBench.demand(.warning, freeing: .mebibytes(demanded), at: now)
            let headroom = ClassifierBench.headroom(190, at: now)
            let decision = bench.step(
                after: .milliseconds(100),
                demandComesFirst ? demand : headroom,
                demandComesFirst ? headroom : demand
            )
            #expect(decision?.reclaim?.bytes == .mebibytes(wanted))
        }
    }

    @Test func aDemandWithoutANumberLeavesTheAmountOpen() {
        var bench = ClassifierBench()
        let reclaim = bench.step(ClassifierBench.demand(.warning, at: bench.now))?.reclaim
        #expect(reclaim != nil)
        #expect(reclaim?.bytes == nil)
    }
}
#endif
