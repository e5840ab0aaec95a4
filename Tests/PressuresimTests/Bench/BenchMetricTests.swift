import Testing

@testable import pressuresim

/// What is measured, what is wanted, and the arithmetic between the two.
@Suite struct BenchMetricTests {
    /// The names and goals that reports are compared by, and that the table of goals has.
    private static let goals: [String: String] = [
        "hot_read": "<= 0.5",
        "hot_read_vs_nscache": ">= 40",
        "keyed_hit": "<= 1",
        "two_threads_apart": ">= 1.7",
        "keyed_hit_two_threads": ">= 0.9",
        "async_hit": "<= 2",
        "async_load_64_tasks": "<= 1.2",
        "coded_update": "<= 2",
        "reclaim_read_often": "<= 1.2",
        "reclaim_clean": ">= 0.8",
        "deflate_all_cores": ">= 0.9",
        "reclaim_compressing": ">= 0.9",
        "reclaim_free_now": ">= 1",
        "reclaim_free_now_unreloadable": ">= 1",
        "reclaim_mixed": ">= 1.6",
        "reclaim_mixed_points_lost": "<= 1",
        "reclaim_stored": ">= 0.8",
        "reclaim_stored_unreloadable": ">= 0.5",
        "restore_64KiB_p50": "<= 1.15",
        "restore_64KiB_p99_over_p50": "<= 3",
        "restore_1MiB_p50": "<= 1.15",
        "restore_1MiB_p99_over_p50": "<= 3",
        "restore_16MiB_speedup": ">= 1.7",
        "reclaim_sealed": ">= 0.5",
        "restore_sealed_1MiB_p50": "<= 1.5",
        "reclaim_allocations": "<= 0",
        "returned_over_claimed": ">= 0.95",
        "plan_million": "<= 1",
        "entry_overhead_bytes": "<= 96",
        "many_siblings": "<= 11",
    ]

    @Test func theMetricsAreThoseOfTheTableAndSoAreTheirGoals() {
        let pairs = BenchMetric.allCases.map { ($0.rawValue, $0.goal.text) }
        #expect(Dictionary(uniqueKeysWithValues: pairs) == Self.goals)
    }

    @Test func everyMetricSaysWhatItsLimitIs() {
        #expect(BenchMetric.allCases.allSatisfy { !$0.limit.isEmpty })
        #expect(Set(BenchMetric.allCases.map(\.rawValue)).count == BenchMetric.allCases.count)
    }

    struct Case: Sendable {
        var metric: BenchMetric
        var value: Double?
        var limit: Double?
        var ratio: Double?
        var verdict: String
    }

    @Test(arguments: [
        Case(metric: .hotRead, value: 3, limit: 6, ratio: 0.5, verdict: "reached"),
        Case(metric: .hotRead, value: 3.1, limit: 6, ratio: 3.1 / 6, verdict: "missed"),
        // Faster is a larger ratio where the goal is so many times the limit.
        Case(metric: .hotReadAgainstNSCache, value: 5, limit: 200, ratio: 40, verdict: "reached"),
        Case(metric: .hotReadAgainstNSCache, value: 10, limit: 200, ratio: 20, verdict: "missed"),
        Case(metric: .restoreLarge, value: 0.02, limit: 0.04, ratio: 2, verdict: "reached"),
        Case(metric: .restoreLarge, value: 0.5, limit: 0.25, ratio: 0.5, verdict: "missed"),
        Case(metric: .reclaimClean, value: 8e9, limit: 1e10, ratio: 0.8, verdict: "reached"),
        Case(metric: .reclaimClean, value: 7.9e9, limit: 1e10, ratio: 0.79, verdict: "missed"),
        // The bound is on the value: there is no ratio.
        Case(metric: .reclaimAllocations, value: 0, limit: nil, ratio: nil, verdict: "reached"),
        Case(metric: .reclaimAllocations, value: 1, limit: nil, ratio: nil, verdict: "missed"),
        Case(metric: .entryOverhead, value: 96, limit: nil, ratio: nil, verdict: "reached"),
        Case(metric: .reclaimMixedPointsLost, value: -0.2, limit: nil, ratio: nil, verdict: "reached"),
        // What was not measured, or divides by nothing, is no success.
        Case(metric: .reclaimAllocations, value: nil, limit: nil, ratio: nil, verdict: "not measured"),
        Case(metric: .hotRead, value: 9, limit: nil, ratio: nil, verdict: "not measured"),
        Case(metric: .planMillion, value: 1, limit: 0, ratio: nil, verdict: "not measured"),
        Case(metric: .restoreLarge, value: 0, limit: 1, ratio: nil, verdict: "not measured"),
    ])
    func theVerdictFollowsFromValueAndLimit(_ example: Case) {
        let result = BenchResult(example.metric, value: example.value, limit: example.limit)
        #expect(result.ratio == example.ratio)
        #expect(result.verdict == example.verdict)
        #expect(result.holds == ["reached": true, "missed": false][example.verdict])
    }

    @Test(arguments: [(0.5, 3.0), (0.99, 5.0), (0.0, 1.0), (1.0, 5.0), (0.2, 1.0), (0.21, 2.0)])
    func aPercentileIsOneOfTheNumbers(share: Double, expected: Double) {
        #expect(BenchTiming.percentile([5, 1, 4, 2, 3], share) == expected)
    }

    @Test func limitAndOursAreMeasuredByTurns() {
        var order: [String] = []
        let medians = BenchTiming.medians(3) {
            order.append("limit")
            return Double(order.count)
        } ours: {
            order.append("ours")
            return Double(order.count)
        }
        #expect(order == ["limit", "ours", "limit", "ours", "limit", "ours"])
        #expect(medians == (limit: 3, ours: 4))
    }
}
