/// How much is measured, and how often.
struct BenchPlan: Sendable {
    /// Repetitions whose median counts; the limit is measured before ours in each.
    var rounds: Int
    /// Operations a repetition of what takes nanoseconds.
    var operations: Int
    /// The bytes a reclaim frees.
    var reclaimBytes: Int
    /// The bytes a reclaim frees when nothing has to be written.
    var cleanBytes: Int
    /// Values restored for each of 64 KiB and 1 MiB.
    var smallRestores: Int
    var middleRestores: Int
    /// Candidates of the plan.
    var candidates: Int
    /// Entries of the keyed caches whose bookkeeping is weighed.
    var weighedCounts: [Int]
    /// Controllers below one, and once more ten times as many.
    var siblings: Int
    /// Entries of the scale table, one row each.
    var scaleCounts: [Int]
    /// Memory touched and given back first: what a virtual machine gets from its host for the first time costs
    /// milliseconds a MiB.
    var warmBytes: Int

    /// Under 10 minutes on two cores.
    static let full = BenchPlan(
        rounds: 3,
        operations: 5_000_000,
        reclaimBytes: 256 << 20,
        cleanBytes: 512 << 20,
        smallRestores: 1000,
        middleRestores: 200,
        candidates: 1_000_000,
        weighedCounts: [100_000, 130_000, 200_000],
        siblings: 5000,
        scaleCounts: [1000, 10_000, 100_000, 1_000_000],
        warmBytes: 2 << 30
    )

    /// Under a minute on two cores.
    static let quick = BenchPlan(
        rounds: 3,
        operations: 1_000_000,
        reclaimBytes: 32 << 20,
        cleanBytes: 128 << 20,
        smallRestores: 400,
        middleRestores: 100,
        candidates: 1_000_000,
        weighedCounts: [30_000, 50_000],
        siblings: 5000,
        scaleCounts: [1000, 10_000, 100_000],
        warmBytes: 1 << 30
    )

    /// So little that its figures mean nothing: for the bench's own tests.
    static let tiny = BenchPlan(
        rounds: 1,
        operations: 200,
        reclaimBytes: 1 << 20,
        cleanBytes: 1 << 20,
        smallRestores: 4,
        middleRestores: 2,
        candidates: 1000,
        weighedCounts: [1000],
        siblings: 10,
        scaleCounts: [10, 100],
        warmBytes: 1 << 20
    )
}
