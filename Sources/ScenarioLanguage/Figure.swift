/// A measured number of a run, by the name that `expect` lines and the JSON report use.
///
/// The names are a promise: scenarios and scripts are written against them. New ones may come; none changes its
/// meaning. `Scenarios/README.md` documents each, and a test holds the two lists together.
package enum Figure: String, CaseIterable, Sendable {
    // What was lost. Nothing may be.
    case lost, verified, values

    // Accesses.
    case accesses, hits, loads, restores
    case hitRate = "hit_rate"
    case failedAccesses = "failed_accesses"
    case loaderFailures = "loader_failures"
    case hitP50 = "hit_p50"
    case hitP99 = "hit_p99"
    case hitMax = "hit_max"
    case loadP50 = "load_p50"
    case loadP99 = "load_p99"
    case loadMax = "load_max"
    case restoreP50 = "restore_p50"
    case restoreP99 = "restore_p99"
    case restoreMax = "restore_max"
    case restoreRate = "restore_rate"
    case restoredAhead = "restored_ahead"
    case restoreFailures = "restore_failures"
    case stateRestored = "state_restored"

    // Eviction.
    case reclaims
    case realReclaims = "real_reclaims"
    case evicted
    case evictedInReclaims = "evicted_in_reclaims"
    case dropped, spilled, reused, compressed
    case evictedOtherwise = "evicted_otherwise"
    case skipped
    case spillFailures = "spill_failures"
    case evictP50 = "evict_p50"
    case evictP99 = "evict_p99"
    case evictMax = "evict_max"
    case reclaimMax = "reclaim_max"
    case evictRate = "evict_rate"
    case claimed, returned
    case freedInBackground = "freed_in_background"
    case returnedOverClaimed = "returned_over_claimed"
    case rssFall = "rss_fall"
    case rssFallOverClaimed = "rss_fall_over_claimed"
    case copied, stored
    case heldCompressed = "held_compressed"
    case compressionRatio = "compression_ratio"
    case written
    case spillFilePeak = "spill_file_peak"

    // The process.
    case rssStart = "rss_start"
    case rssPeak = "rss_peak"
    case rssEnd = "rss_end"
    case filled, hogged
    case cgroupPeak = "cgroup_peak"
    case cgroupHits = "cgroup_hits"
    case duration

    /// What the number counts.
    package enum Unit: String, Sendable {
        case count
        case bytes
        case seconds
        case bytesPerSecond = "bytes/s"
        case ratio
    }

    /// The unit of the figure's value, in reports and before it is written with a larger one.
    package var unit: Unit {
        switch self {
        case .lost, .verified, .values, .accesses, .hits, .loads, .restores, .failedAccesses, .loaderFailures,
            .restoredAhead, .restoreFailures, .stateRestored, .reclaims, .realReclaims, .evicted,
            .evictedInReclaims, .dropped, .spilled, .reused, .compressed, .evictedOtherwise, .skipped, .spillFailures,
            .cgroupHits:
            .count
        case .hitP50, .hitP99, .hitMax, .loadP50, .loadP99, .loadMax, .restoreP50, .restoreP99, .restoreMax,
            .evictP50, .evictP99, .evictMax, .reclaimMax, .duration:
            .seconds
        case .claimed, .returned, .freedInBackground, .copied, .stored, .heldCompressed, .written, .rssFall,
            .spillFilePeak, .rssStart, .rssPeak, .rssEnd, .filled, .hogged, .cgroupPeak:
            .bytes
        case .restoreRate, .evictRate: .bytesPerSecond
        case .hitRate, .returnedOverClaimed, .rssFallOverClaimed, .compressionRatio: .ratio
        }
    }
}

extension Figure {
    /// Whether it is about reads, and so is known for each phase as well.
    package var isOfReads: Bool {
        switch self {
        case .accesses, .hits, .loads, .restores, .hitRate, .failedAccesses, .loaderFailures, .hitP50, .hitP99, .hitMax,
            .loadP50, .loadP99, .loadMax, .restoreP50, .restoreP99, .restoreMax, .restoreRate:
            true
        default: false
        }
    }

    /// The values that it can have.
    var range: ClosedRange<Double> {
        switch self {
        case .hitRate: 0...1
        // Memory may have grown meanwhile.
        case .returned, .rssFall, .returnedOverClaimed, .rssFallOverClaimed: -.infinity ... .infinity
        default: 0 ... .infinity
        }
    }

    /// The same in words.
    var limits: String {
        switch self {
        case .hitRate: "comparisons that some value from 0 to 1 satisfies: it is a share"
        case .returned, .rssFall, .returnedOverClaimed, .rssFallOverClaimed: "comparisons that some value satisfies"
        default: "comparisons that some value from 0 on satisfies"
        }
    }
}

extension Figure.Unit {
    /// Reads a number with this unit; `nil` when it does not fit.
    func value(_ text: String) -> Double? {
        switch self {
        case .bytes: return UnitFamily.bytes.value(text) ?? zero(text)
        case .seconds: return UnitFamily.time.value(text) ?? zero(text)
        case .bytesPerSecond: return UnitFamily.rate.value(text) ?? zero(text)
        case .count, .ratio:
            guard let quantity = Quantity(text) else { return nil }
            if quantity.unit.isEmpty { return quantity.number }
            return self == .ratio && quantity.unit == "%" ? quantity.number / 100 : nil
        }
    }

    /// Nothing is nothing in every unit.
    private func zero(_ text: String) -> Double? { text == "0" ? 0 : nil }

    /// A regular expression for such a number.
    var expression: String {
        switch self {
        case .count: UnitFamily.number
        case .ratio: "\(UnitFamily.number) *%?"
        case .bytes: "(0|\(UnitFamily.bytes.expression))"
        case .seconds: "(0|\(UnitFamily.time.expression))"
        case .bytesPerSecond: "(0|\(UnitFamily.rate.expression))"
        }
    }

    /// How such a number is written, for messages.
    var example: String {
        switch self {
        case .count: "a whole number, such as 0"
        case .ratio: "a ratio or a percentage, such as 0.9 or 90%"
        case .bytes: "a size with its unit (\(UnitFamily.bytes.names)), such as 64KiB"
        case .seconds: "a duration with its unit (\(UnitFamily.time.names)), such as 50ms"
        case .bytesPerSecond: "a rate with its unit (\(UnitFamily.rate.names)), such as 150MB/s"
        }
    }
}
