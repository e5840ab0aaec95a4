import PressureKit
import Testing

@testable import SampleContent
@testable import pressuresim

/// What counts as growth.
@Suite struct SoakDriftTests {
    /// Windows of a minute, with something added to some of their figures.
    private static func windows(_ count: Int = 60, _ change: (Int, inout SoakWindow) -> Void = { _, _ in })
        -> [SoakWindow]
    {
        var random = SplitMix64(seed: 60)
        return (0..<count).map { index in
            var news = SoakNews(seconds: Double(60 * (index + 1)), tally: SoakLoad.Tally(), heapBytes: 2 << 20)
            var latencies = Latencies()
            for _ in 0..<100 { latencies.record(nanoseconds: Int64(600_000 + random.next() % 200_000)) }
            news.restores = SoakNews.Restores(latencies)
            let swing = Int(random.next() % (40 << 20))
            let sight = SoakObserver.Sight(
                residentBytes: (50 << 20) + swing,
                descriptors: 39,
                spillBytes: 512 << 20,
                cgroupBytes: 200 << 20
            )
            var window = SoakWindow(news, [sight], machineLoad: 1)
            change(index, &window)
            return window
        }
    }

    private static func broken(_ windows: [SoakWindow]) -> [SoakDrift.Measure]? {
        SoakDrift.judge(windows, limit: .mebibytes(256))?.filter { !$0.isTolerated }.map(\.measure)
    }

    @Test func whatSwingsDoesNotGrow() { #expect(Self.broken(Self.windows()) == []) }

    @Test func whatGrowsBeforeTheFirstQuarterEndsIsWarmingUp() {
        let windows = Self.windows { index, window in
            window.heapBytes += Double(min(index, 15) * (1 << 20))
            window.descriptors += Double(min(index, 15))
        }
        #expect(Self.broken(windows) == [])
    }

    /// Each leaks a little in each window.
    @Test func whateverGrowsIsNamed() {
        typealias Leak = (SoakDrift.Measure, (inout SoakWindow, Double) -> Void)
        let leaks: [Leak] = [
            (.resident, { $0.residentBytes += $1 * 1_048_576 }), (.heap, { $0.heapBytes += $1 * 8192 }),
            (.descriptors, { $0.descriptors += ($1 / 10).rounded(.down) }),
            (.spillFile, { $0.spillBytes += $1 * 2_097_152 }),
            (.restore, { $0.restores.median? *= 1 + $1 / 20 }),
        ]
        for (measure, leak) in leaks {
            #expect(Self.broken(Self.windows { leak(&$1, Double($0)) }) == [measure])
        }
    }

    /// A fifth of the windows on a machine that does something else.
    @Test func aFewWildWindowsSayNothing() {
        let windows = Self.windows { index, window in
            guard index.isMultiple(of: 5) else { return }
            window.restores.median? *= 20
            window.residentBytes *= 3
        }
        #expect(Self.broken(windows) == [])
    }

    @Test func tooFewWindowsOrNoneSeenAreNoVerdict() {
        #expect(Self.broken(Self.windows(9)) == nil)
        #expect(Self.broken(Self.windows(12)) == [])
        #expect(Self.broken(Self.windows { $1.descriptors = 0 }) == nil)
        #expect(Self.broken(Self.windows { $1.restores.median = nil }) == nil)
    }

    @Test func theSlopeIsThatOfMostPairs() {
        #expect(Robust.slope([]) == nil)
        #expect(Robust.slope([(1, 1)]) == nil)
        let line: [(Double, Double)] = (0..<9).map { (Double($0), Double(3 * $0 + 1)) }
        #expect(Robust.slope(line) == 3)
        let outliers: [(Double, Double)] = (0..<9).map { (Double($0), Double($0 < 2 ? 1_000_000_000 : $0)) }
        #expect(Robust.slope(outliers) == 1)
        #expect(Robust.median([3, 1, 2]) == 2)
        #expect(Robust.median([4, 1, 2, 3]) == 2.5)
        #expect(Robust.median([]) == nil)
    }
}

/// What the soak says at its end.
@Suite struct SoakReportTests {
    private static func outcome(_ change: (inout Soak.Outcome) -> Void = { _ in }) -> Soak.Outcome {
        let plan = SoakPlan()
        var outcome = Soak.Outcome()
        for index in 1...60 {
            var news = SoakNews(seconds: Double(10 * index), tally: SoakLoad.Tally(), heapBytes: 2 << 20)
            news.restores.count = 100
            news.restores.median = 0.0007
            news.restores.high = 0.006
            news.restores.longest = 0.02
            let sight = SoakObserver.Sight(
                residentBytes: 60 << 20,
                descriptors: 39,
                spillBytes: 520 << 20,
                cgroupBytes: 200 << 20
            )
            outcome.windows.append(SoakWindow(news, [sight], machineLoad: 1.5))
        }
        var tally = SoakLoad.Tally(reads: 60_000, changes: 4000, rightAtEnd: plan.count)
        tally.lost = 0
        var news = SoakNews(seconds: 600, tally: tally, scenes: 19, saves: 13, heapBytes: 2 << 20)
        news.library = SurvivalLibraryPart(reclaims: 900, longestReclaimSeconds: 0.2, evictions: 9000, restores: 5000)
        news.isFinal = true
        outcome.news = news
        outcome.status = 0
        outcome.kills = 0
        outcome.peak = .mebibytes(256)
        outcome.hadNeighbour = true
        change(&outcome)
        return outcome
    }

    private static func broken(_ change: (inout Soak.Outcome) -> Void) -> [String] {
        SoakReport(plan: SoakPlan(), outcome: outcome(change)).verdicts.filter { $0.holds == false }.map(\.text)
    }

    @Test func aGoodOneIsTold() throws {
        let report = SoakReport(plan: SoakPlan(), outcome: Self.outcome())
        #expect(report.isAsExpected == true)
        try Golden.expect(report.text + "\n", equals: "soak/expected.txt")
    }

    /// Noise is no growth: the same windows, of a soak that is too short to say.
    @Test func aShortOneJudgesNoDrift() {
        let leak: (inout Soak.Outcome) -> Void = { outcome in
            for index in outcome.windows.indices { outcome.windows[index].heapBytes += Double(index << 20) }
        }
        var plan = SoakPlan()
        #expect(SoakReport(plan: plan, outcome: Self.outcome(leak)).isAsExpected == false)
        plan.seconds = 119
        let report = SoakReport(plan: plan, outcome: Self.outcome(leak))
        #expect(report.isAsExpected == true)
        #expect(report.verdicts.last?.holds == .some(nil))
        #expect(report.text.contains("drift: not judged in less than"))
        // All else is judged.
        #expect(SoakReport(plan: plan, outcome: Self.outcome { $0.kills = 1 }).isAsExpected == false)
    }

    /// Interrupted, it tells what it has, and holds nothing against anybody.
    @Test func anInterruptedOneJudgesNothing() throws {
        let outcome = Self.outcome { outcome in
            outcome.news?.isFinal = false
            outcome.status = nil
            outcome.kills = nil
        }
        let report = SoakReport(plan: SoakPlan(), outcome: outcome, isCutShort: true)
        #expect(report.isAsExpected == nil)
        #expect(report.text.contains("interrupted after"))
        #expect(!report.text.contains("✗") && !report.text.contains("✓"))
        let json = String(decoding: try CommandJSON.encode(SoakJSON(report)), as: UTF8.self)
        #expect(!json.contains("holds") && !json.contains("fails") && json.contains("not judged"))
    }

    @Test func whateverIsNotAsExpectedFails() {
        #expect(Self.broken { _ in } == [])
        #expect(Self.broken { $0.kills = 1 } == ["OOM kills: 1"])
        #expect(Self.broken { $0.kills = nil } == ["OOM kills: unknown"])
        #expect(Self.broken { $0.news?.tally.lost = 2 } == ["lost or wrong: 2"])
        #expect(Self.broken { $0.news?.tally.rightAtEnd -= 1 } == ["at the end 4,095 of 4,096 values right"])
        #expect(Self.broken { $0.news?.saves = 0 }.count == 1)
        #expect(Self.broken { $0.news?.library = nil }.count == 1)
        #expect(Self.broken { $0.hadNeighbour = false } == ["neighbour: has ended"])
        #expect(Self.broken { $0.windows = [] } == ["drift: 0 windows say nothing"])
        #expect(Self.broken { $0.status = nil }.first?.hasPrefix("the process ended after") == true)
        #expect(Self.broken { $0.news?.isFinal = false }.count == 1)
    }
}
