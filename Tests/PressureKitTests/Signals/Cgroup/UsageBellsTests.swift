import PressureKit
import PressureKitTestSupport
import Testing

/// A limit of 1,000 MiB: warning is entered at 200 MiB left, critical at 100 MiB.
@Suite struct UsageBellsTests {
    private func bells(used: Int, inactive: Int = 0, limit: Int? = 1000) -> UsageBells {
        UsageBells(
            CgroupUsage(
                used: .mebibytes(used),
                reclaimable: .mebibytes(inactive),
                limit: limit.map(ByteCount.mebibytes)
            ),
            thresholds: PressureThresholds()
        )
    }

    @Test func farFromTheThresholdsTheyRingBeforeAnyCrossing() {
        let bells = bells(used: 300, inactive: 250)
        #expect(bells.warning == .mebibytes(800))
        #expect(bells.critical == .mebibytes(900))
        #expect(bells.isSafe)
    }

    /// Pitfall 12: usage has page cache in it.
    @Test func pageCacheAtTheBellMovesItUpAndMakesItUnsafe() {
        let bells = bells(used: 850, inactive: 150)
        let warning = bells.warning?.bytes ?? 0
        #expect((934 << 20)...(950 << 20) ~= warning, "800 MiB and the cache, in steps of a 64th")
        #expect(bells.critical == .mebibytes(900))
        #expect(!bells.isSafe)
    }

    @Test func cacheThatFillsTheLimitLeavesNoBellForWarning() {
        let bells = bells(used: 990, inactive: 600)
        #expect(bells.warning == nil)
        #expect(!bells.isSafe)
    }

    @Test func aCrossedThresholdNeedsNoBellAndTheNextOneIsWatched() {
        let bells = bells(used: 850)
        #expect(bells.warning == nil)
        #expect(bells.critical == .mebibytes(900))
        #expect(bells.isSafe)
    }

    @Test func whenAllIsCrossedThereIsNothingToWaitFor() {
        #expect(bells(used: 950) == .none)
        #expect(bells(used: 300, limit: nil) == .none)
    }

    /// Whatever the cgroup does: a bell is above the usage and below the limit, and while they are called safe, no
    /// threshold can be reached before a ring.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func aSafeBellIsNeverTooLate(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let thresholds = PressureThresholds()
        for _ in 0..<2_000 {
            let limit = ByteCount(
                bytes: Int.random(in: 1...(1 << Int.random(in: 1...45, using: &random)), using: &random)
            )
            let used = ByteCount(bytes: Int.random(in: 0...limit.bytes + limit.bytes / 16, using: &random))
            let inactive = ByteCount(bytes: Int.random(in: 0...used.bytes, using: &random))
            let usage = CgroupUsage(used: used, reclaimable: inactive, limit: limit)
            let bells = UsageBells(usage, thresholds: thresholds)
            for bell in [bells.warning, bells.critical] {
                guard let bell else { continue }
                #expect(bell > used && bell <= limit)
            }
            guard bells.isSafe else { continue }
            let bands = thresholds.bytes(of: limit)
            let isWarned = usage.headroom!.available <= bands.warningEnter
            // The worst that can happen below the bell: all of the cache turns active.
            let worst = CgroupUsage(
                used: (isWarned ? bells.critical! : bells.warning!) - .bytes(1),
                reclaimable: .zero,
                limit: limit
            )
            #expect(worst.headroom!.available > (isWarned ? bands.criticalEnter : bands.warningEnter))
        }
    }
}
