import ReportPages

/// What the bench measures: one for each row of the table of goals, and a few more that tell something.
///
/// The raw values are stable: reports are compared by them.
enum BenchMetric: String, CaseIterable, Sendable {
    case hotRead = "hot_read"
    case hotReadAgainstNSCache = "hot_read_vs_nscache"
    case keyedHit = "keyed_hit"
    /// What two threads reach that share nothing: far from the goal, the machine was busy, and what is below has missed
    /// its goal for that reason too.
    case twoThreadsApart = "two_threads_apart"
    case keyedHitTwoThreads = "keyed_hit_two_threads"
    /// A value in memory of a cache whose loader suspends: nothing is suspended for it.
    case asyncHit = "async_hit"
    /// A load of 5 ms, asked for by 64 tasks, of which the library adds what it costs.
    case asyncLoad = "async_load_64_tasks"
    /// A change of a `Coded` value: nothing is encoded for it.
    case codedUpdate = "coded_update"
    /// 10,000 small values that nearly all are read without a pin, of whom a reclaim has to find the readers first.
    case reclaimReadOften = "reclaim_read_often"
    case reclaimClean = "reclaim_clean"
    /// What all cores deflate together without the library: far from the goal, the machine was busy, and what is below has
    /// missed its goal for that reason too.
    case deflateAllCores = "deflate_all_cores"
    case reclaimCompressing = "reclaim_compressing"
    /// What the default configuration makes of the same bytes: written as they are where the disk is faster.
    case reclaimFreeNow = "reclaim_free_now"
    /// The same for values that no loader makes, which are on the device and compared before they go.
    case reclaimFreeNowUnreloadable = "reclaim_free_now_unreloadable"
    case reclaimMixed = "reclaim_mixed"
    case reclaimMixedPointsLost = "reclaim_mixed_points_lost"
    case reclaimStored = "reclaim_stored"
    case reclaimStoredUnreloadable = "reclaim_stored_unreloadable"
    case reclaimSealed = "reclaim_sealed"
    case restoreSmall = "restore_64KiB_p50"
    case restoreSmallTail = "restore_64KiB_p99_over_p50"
    case restoreMiddle = "restore_1MiB_p50"
    case restoreMiddleTail = "restore_1MiB_p99_over_p50"
    case restoreLarge = "restore_16MiB_speedup"
    case restoreSealed = "restore_sealed_1MiB_p50"
    case reclaimAllocations = "reclaim_allocations"
    case returnedOverClaimed = "returned_over_claimed"
    case planMillion = "plan_million"
    case entryOverhead = "entry_overhead_bytes"
    /// 50,000 controllers below one, with a value each, set up and reclaimed.
    case manySiblings = "many_siblings"

    /// The same as a history knows it.
    var subject: BenchSubject { BenchSubject(name: rawValue, title: rawValue, unit: unit, goal: goal, limit: limit) }

    /// The unit of the value and of its limit.
    var unit: BenchUnit {
        switch self {
        case .hotRead, .hotReadAgainstNSCache, .keyedHit, .asyncHit, .asyncLoad, .codedUpdate, .reclaimReadOften,
            .restoreSmall, .restoreSmallTail, .restoreMiddle, .restoreMiddleTail, .restoreLarge, .restoreSealed,
            .planMillion, .manySiblings:
            .seconds
        case .twoThreadsApart, .keyedHitTwoThreads: .perSecond
        case .deflateAllCores, .reclaimClean, .reclaimCompressing, .reclaimFreeNow, .reclaimFreeNowUnreloadable,
            .reclaimMixed, .reclaimStored, .reclaimStoredUnreloadable, .reclaimSealed:
            .bytesPerSecond
        case .reclaimMixedPointsLost: .points
        case .reclaimAllocations: .count
        case .returnedOverClaimed, .entryOverhead: .bytes
        }
    }

    /// How the ratio is made, and what it, or the value where there is no ratio, has to be.
    var goal: BenchGoal {
        switch self {
        case .hotRead: BenchGoal(.valueOverLimit, .atMost, 0.5)
        case .hotReadAgainstNSCache: BenchGoal(.limitOverValue, .atLeast, 40)
        case .keyedHit: BenchGoal(.valueOverLimit, .atMost, 1)
        case .asyncHit, .codedUpdate: BenchGoal(.valueOverLimit, .atMost, 2)
        case .asyncLoad, .reclaimReadOften: BenchGoal(.valueOverLimit, .atMost, 1.2)
        case .twoThreadsApart: BenchGoal(.valueOverLimit, .atLeast, 1.7)
        case .keyedHitTwoThreads: BenchGoal(.valueOverLimit, .atLeast, 0.9)
        case .reclaimClean, .reclaimStored: BenchGoal(.valueOverLimit, .atLeast, 0.8)
        case .deflateAllCores, .reclaimCompressing: BenchGoal(.valueOverLimit, .atLeast, 0.9)
        case .reclaimFreeNow, .reclaimFreeNowUnreloadable: BenchGoal(.valueOverLimit, .atLeast, 1)
        case .reclaimStoredUnreloadable: BenchGoal(.valueOverLimit, .atLeast, 0.5)
        case .reclaimMixed: BenchGoal(.valueOverLimit, .atLeast, 1.6)
        case .reclaimMixedPointsLost: BenchGoal(.none, .atMost, 1)
        case .restoreSmall, .restoreMiddle: BenchGoal(.valueOverLimit, .atMost, 1.15)
        case .restoreSmallTail, .restoreMiddleTail: BenchGoal(.valueOverLimit, .atMost, 3)
        case .restoreLarge: BenchGoal(.limitOverValue, .atLeast, 1.7)
        case .reclaimSealed: BenchGoal(.valueOverLimit, .atLeast, 0.5)
        case .restoreSealed: BenchGoal(.valueOverLimit, .atMost, 1.5)
        case .reclaimAllocations: BenchGoal(.none, .atMost, 0)
        case .returnedOverClaimed: BenchGoal(.valueOverLimit, .atLeast, 0.95)
        case .planMillion: BenchGoal(.valueOverLimit, .atMost, 1)
        case .entryOverhead: BenchGoal(.none, .atMost, 96)
        case .manySiblings: BenchGoal(.valueOverLimit, .atMost, 11)
        }
    }

    /// What the limit is, in a few words.
    var limit: String {
        switch self {
        case .hotRead: "atomic increment and decrement"
        case .hotReadAgainstNSCache: "NSCache.object(forKey:)"
        case .keyedHit: "dictionary under an uncontended Mutex"
        case .twoThreadsApart: "one thread, dictionary under a Mutex"
        case .keyedHitTwoThreads: "two threads with a cache each"
        case .asyncHit: "the same of a cache whose loader blocks"
        case .asyncLoad: "64 tasks that sleep 5 ms for each key"
        case .codedUpdate: "the same of a Spillable struct written by hand"
        case .reclaimReadOften: "the same values, read once"
        case .reclaimClean: "munmap of the same bytes"
        case .deflateAllCores, .reclaimCompressing, .reclaimFreeNow, .reclaimFreeNowUnreloadable, .reclaimMixed:
            "cores × one-thread deflate, level 1"
        case .reclaimMixedPointsLost: "of plain bytes, against deflate of all"
        case .reclaimStored: "one-thread pwrite of the same bytes"
        case .reclaimStoredUnreloadable: "one-thread pwrite of the same bytes past the page cache"
        case .restoreSmall, .restoreMiddle: "pread and inflate of the same bytes"
        case .restoreSmallTail, .restoreMiddleTail: "its own p50"
        case .restoreLarge: "one-thread inflate of the same bytes"
        case .reclaimSealed, .restoreSealed: "the same without sealing; needs the trait Encryption"
        case .reclaimAllocations: "none, the most of any reclaim"
        case .returnedOverClaimed: "claimed, of the reclaim that returned least"
        case .planMillion: "sort of 1,000,000 keys"
        case .entryOverhead: "key and value aside, the most of several counts"
        case .manySiblings: "a tenth as many"
        }
    }
}

/// What a value is counted in. The raw values are stable.
enum BenchUnit: String, Sendable {
    case seconds = "s"
    case perSecond = "1/s"
    case bytesPerSecond = "B/s"
    case bytes = "B"
    case count = "count"
    /// Hundredths of the plain bytes.
    case points = "points"

    /// A value as people read it.
    func text(_ value: Double) -> String {
        switch self {
        case .seconds: Quantities.duration(value)
        case .perSecond: value < 1e6 ? "\(Quantities.count(Int(value)))/s" : "\(Quantities.digits(value / 1e6)) M/s"
        case .bytesPerSecond: Quantities.rate(value)
        case .bytes: value < 1024 ? "\(Quantities.digits(value)) B" : Quantities.bytes(value)
        case .count: Quantities.count(Int(value))
        case .points: "\(Quantities.digits(value)) points"
        }
    }
}
