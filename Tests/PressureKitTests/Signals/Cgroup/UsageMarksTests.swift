import PressureKit
import PressureKitTestSupport
import Testing

/// A limit of 1,000 MiB: warning is entered at 200 MiB left, critical at 100 MiB.
@Suite struct UsageMarksTests {
    private func marks(used: Int, inactive: Int = 0, limit: Int? = 1000) -> UsageMarks {
        UsageMarks(
            CgroupUsage(
                used: .mebibytes(used),
                reclaimable: .mebibytes(inactive),
                limit: limit.map(ByteCount.mebibytes)
            ),
            thresholds: PressureThresholds()
        )
    }

    @Test func farFromTheThresholdsTheyRingBeforeAnyCrossing() {
        let marks = marks(used: 300, inactive: 250)
        #expect(marks.warning == .mebibytes(800))
        #expect(marks.critical == .mebibytes(900))
        #expect(marks.isSafe)
    }

    /// Pitfall 12: usage has page cache in it.
    @Test func whatPageCacheHasPassedIsNoMark() {
        let marks = marks(used: 850, inactive: 150)
        #expect(marks.warning == nil)
        #expect(marks.critical == .mebibytes(900))
        #expect(!marks.isSafe)
    }

    @Test func cacheThatFillsTheLimitLeavesNoMarkForWarning() {
        let marks = marks(used: 990, inactive: 600)
        #expect(marks.warning == nil)
        #expect(!marks.isSafe)
    }

    @Test func aCrossedThresholdNeedsNoMarkAndTheNextOneIsWatched() {
        let marks = marks(used: 850)
        #expect(marks.warning == nil)
        #expect(marks.critical == .mebibytes(900))
        #expect(marks.isSafe)
    }

    /// A full cache lives behind both thresholds, and is no shortage: what notifies is that others take what it leaves.
    @Test func behindBothThresholdsWhatAFullCacheLeavesIsWatched() {
        let marks = marks(used: 950)
        #expect((marks.warning, marks.critical) == (nil, nil))
        #expect(marks.full == .mebibytes(1000) - .bytes(Watermarks.notice(below: .mebibytes(1000))))
        #expect(marks.isSafe)
    }

    @Test func whenAllIsCrossedThereIsNothingToWaitFor() {
        #expect(marks(used: 990) == .none)
        #expect(marks(used: 300, limit: nil) == .none)
    }

    /// Whatever the cgroup does: a mark is above the usage and below the limit, and while they are called safe, no
    /// threshold can be reached before a notification.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func aSafeMarkIsNeverTooLate(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let thresholds = PressureThresholds()
        for _ in 0..<2_000 {
            let limit = ByteCount(
                bytes: Int.random(in: 1...(1 << Int.random(in: 1...45, using: &random)), using: &random)
            )
            let used = ByteCount(bytes: Int.random(in: 0...limit.bytes + limit.bytes / 16, using: &random))
            let inactive = ByteCount(bytes: Int.random(in: 0...used.bytes, using: &random))
            let usage = CgroupUsage(used: used, reclaimable: inactive, limit: limit)
            let marks = UsageMarks(usage, thresholds: thresholds)
            for mark in [marks.warning, marks.critical, marks.full] {
                guard let mark else { continue }
                #expect(mark > used && mark <= limit)
            }
            guard marks.isSafe else { continue }
            let bands = thresholds.bytes(of: limit)
            let available = usage.headroom!.available
            let least = ByteCount(bytes: Watermarks.notice(below: limit))
            let (mark, enter) =
                available > bands.warningEnter
                ? (marks.warning!, bands.warningEnter)
                : available > bands.criticalEnter ? (marks.critical!, bands.criticalEnter) : (marks.full!, least)
            // The worst that can happen below the mark: all of the cache turns active.
            let worst = CgroupUsage(used: mark - .bytes(1), reclaimable: .zero, limit: limit)
            #expect(worst.headroom!.available > enter)
        }
    }
}
