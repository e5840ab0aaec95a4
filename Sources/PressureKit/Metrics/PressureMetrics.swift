#if Metrics
public import CoreMetrics

/// What a manager measures of itself, as handles of swift-metrics.
///
/// ```swift
/// MetricsSystem.bootstrap(myFactory)
/// configuration.metrics = PressureMetrics()
/// ```
///
/// Names are in Prometheus' style: units and `_total` at the end; a backend that adds those itself is to be told so.
/// `Examples/Monitoring` has rules and a dashboard for them.
///
/// Nothing is recorded on the way to freeing memory, nor when a value in memory is read. Counters are the library's own,
/// told on when the monitor samples, at most once a second, and after each reclaim. Bytes by tier are summed over all
/// values: so rarely that it takes less than a hundredth of a processor, and under pressure only after each reclaim. What a
/// cache counts between then and being removed is not told.
public struct PressureMetrics: Sendable {
    /// `pressurekit_level`: 0 normal, 1 warning, 2 critical.
    public let level: Meter
    /// `pressurekit_score_ratio`: how bad it is, 0 … 1; warning begins at 1/3, critical at 2/3.
    public let score: Meter
    /// `pressurekit_headroom_bytes`: what is left of the limit that binds most.
    public let headroom: Meter
    /// `pressurekit_limit_bytes`: that limit.
    public let limit: Meter

    /// `pressurekit_neighbours`: other processes that share that limit.
    public let neighbours: Meter
    /// `pressurekit_budget_bytes`: what this one may hold beside them, in bytes of values.
    public let budgetBytes: Meter

    /// `pressurekit_values_bytes{tier="resident"}`: values in memory.
    public let residentBytes: Meter
    /// `pressurekit_values_bytes{tier="compressed"}`: values that are compressed in memory, before compressing.
    public let compressedBytes: Meter
    /// `pressurekit_values_bytes{tier="spilled"}`: values that are in the spill file only, before compressing.
    public let spilledBytes: Meter
    /// `pressurekit_clean_bytes`: of the values in memory, those that can go at once.
    public let cleanBytes: Meter
    /// `pressurekit_clean_ratio`: the same as a part of them; 1 when there are none.
    public let cleanFraction: Meter
    /// `pressurekit_spill_file_bytes`: what the spill file takes on the disk.
    public let spillFileBytes: Meter

    /// `pressurekit_reclaims_total`: reclaims, whoever asked for them.
    public let reclaims: Counter
    /// `pressurekit_reclaim_seconds`: how long each took.
    public let reclaimTime: Timer
    /// `pressurekit_claimed_bytes_total`: bytes of values that left memory.
    public let claimedBytes: Counter
    /// `pressurekit_returned_bytes_total`: bytes that the system got back in those reclaims, measured.
    public let returnedBytes: Counter
    /// `pressurekit_returned_per_claimed_ratio`: the same as a part of what the last reclaim claimed.
    public let returnedOverClaimed: Meter

    /// `pressurekit_evictions_total{outcome="reused"}`: values whose copies were there already.
    public let reused: Counter
    /// `pressurekit_evictions_total{outcome="spilled"}`: values that were written.
    public let spilled: Counter
    /// `pressurekit_evictions_total{outcome="compressed"}`: values that were compressed in memory.
    public let compressed: Counter
    /// `pressurekit_evictions_total{outcome="dropped"}`: values that their loaders make again.
    public let dropped: Counter

    /// `pressurekit_loads_total`: loaders that ran to their ends.
    public let loads: Counter
    /// `pressurekit_restores_total`: values that were read back.
    public let restores: Counter
    /// `pressurekit_restore_seconds`: how long each of those took, from the first byte read.
    public let restoreTime: Timer
    /// `pressurekit_refaults_total`: values that came back sooner than the reclaim that took them had expected.
    public let refaults: Counter
    /// `pressurekit_failures_total`: loads, spills and restores that failed.
    public let failures: Counter

    /// Creates the handles.
    ///
    /// - Parameters:
    ///   - factory: who makes them; by default the one of the process, which has to be bootstrapped before.
    ///   - dimensions: labels that all of them get, to tell managers apart.
    public init(
        factory: any MetricsFactory = MetricsSystem.factory,
        dimensions: [(String, String)] = []
    ) {
        func meter(_ name: String, _ more: (String, String)...) -> Meter {
            Meter(label: "pressurekit_\(name)", dimensions: dimensions + more, factory: factory)
        }
        func counter(_ name: String, _ more: (String, String)...) -> Counter {
            Counter(label: "pressurekit_\(name)", dimensions: dimensions + more, factory: factory)
        }
        func timer(_ name: String) -> Timer {
            Timer(
                label: "pressurekit_\(name)",
                dimensions: dimensions,
                preferredDisplayUnit: .seconds,
                factory: factory
            )
        }
        level = meter("level")
        score = meter("score_ratio")
        headroom = meter("headroom_bytes")
        limit = meter("limit_bytes")
        neighbours = meter("neighbours")
        budgetBytes = meter("budget_bytes")
        residentBytes = meter("values_bytes", ("tier", "resident"))
        compressedBytes = meter("values_bytes", ("tier", "compressed"))
        spilledBytes = meter("values_bytes", ("tier", "spilled"))
        cleanBytes = meter("clean_bytes")
        cleanFraction = meter("clean_ratio")
        spillFileBytes = meter("spill_file_bytes")
        reclaims = counter("reclaims_total")
        reclaimTime = timer("reclaim_seconds")
        claimedBytes = counter("claimed_bytes_total")
        returnedBytes = counter("returned_bytes_total")
        returnedOverClaimed = meter("returned_per_claimed_ratio")
        reused = counter("evictions_total", ("outcome", "reused"))
        spilled = counter("evictions_total", ("outcome", "spilled"))
        compressed = counter("evictions_total", ("outcome", "compressed"))
        dropped = counter("evictions_total", ("outcome", "dropped"))
        loads = counter("loads_total")
        restores = counter("restores_total")
        restoreTime = timer("restore_seconds")
        refaults = counter("refaults_total")
        failures = counter("failures_total")
    }
}
#endif
