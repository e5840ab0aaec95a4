import PressureKit
import ReportPages
import ScenarioLanguage

/// Every figure of a run. One that nothing was measured for is absent: an expectation on it fails.
struct Figures: Sendable {
    private(set) var values: [Figure: Double] = [:]
    /// Those of reads, for each part of the run that anything is expected of.
    let parts: [Expectation.Part: [Figure: Double]]
    /// Those that mean nothing in this run, with the reason; they have no value.
    let unmeasured: [Figure: String]

    subscript(figure: Figure) -> Double? { values[figure] }

    init(_ record: RunRecord) {
        unmeasured = record.unmeasured
        parts = record.parts.mapValues(Self.reads)
        addAccesses(record)
        addReclaims(record)
        addProcess(record)
        for figure in unmeasured.keys { values[figure] = nil }
    }

    private mutating func addAccesses(_ record: RunRecord) {
        let tally = record.tally
        set(.values, record.values)
        set(.verified, tally.verified)
        set(.lost, Set(tally.losses.map(\.path)).count)
        set(.restoredAhead, record.restoredAhead)
        set(.restoreFailures, record.restoreFailures.count)
        set(.stateRestored, record.stateRestored)
        values.merge(Self.reads(tally)) { _, new in new }
    }

    /// The figures of reads.
    private static func reads(_ tally: AccessTally) -> [Figure: Double] {
        var values: [Figure: Double] = [
            .accesses: Double(tally.count), .failedAccesses: Double(tally.failures),
            .loaderFailures: Double(tally.loaderFailures),
        ]
        if tally.count > 0 {
            values[.hitRate] = Double(tally.latencies[.hit]?.count ?? 0) / Double(tally.count)
        }
        for outcome in AccessOutcome.allCases {
            let latencies = tally.latencies[outcome]
            let names = outcome.figures
            values[names.count] = Double(latencies?.count ?? 0)
            values[names.p50] = latencies?.percentile(50)
            values[names.p99] = latencies?.percentile(99)
            values[names.max] = latencies?.percentile(100)
        }
        if let restores = tally.latencies[.restore], restores.total > 0 {
            values[.restoreRate] = Double(tally.restoredBytes) / (Double(restores.total) / 1e9)
        }
        return values
    }

    private mutating func addReclaims(_ record: RunRecord) {
        let reclaims = record.reclaims
        set(.reclaims, reclaims.count)
        set(.realReclaims, record.steps.count { $0.number == nil && $0.reclaim != nil })
        set(.evicted, record.evictedInReclaims + record.evictedOtherwise)
        set(.evictedInReclaims, record.evictedInReclaims)
        set(.evictedOtherwise, record.evictedOtherwise)
        set(.dropped, reclaims.reduce(0) { $0 + $1.values(.dropped) })
        set(.spilled, reclaims.reduce(0) { $0 + $1.values(.spilled) })
        set(.compressed, reclaims.reduce(0) { $0 + $1.values(.compressed) })
        set(.reused, reclaims.reduce(0) { $0 + $1.values(.reused) })
        set(.skipped, reclaims.reduce(0) { $0 + $1.skipped.reduce(0) { $0 + $1.values } })
        set(.spillFailures, record.notSpilledInBackground + reclaims.reduce(0) { $0 + $1.failures.count })
        values[.evictP50] = record.evictions.percentile(50)
        values[.evictP99] = record.evictions.percentile(99)
        values[.evictMax] = record.evictions.percentile(100)
        values[.reclaimMax] = reclaims.map(\.durationSeconds).max()

        let claimed = sum(reclaims, \.claimedBytes)
        let copied = sum(reclaims, \.copiedBytes)
        values[.claimed] = claimed
        values[.returned] = sum(reclaims, \.returnedBytes)
        values[.freedInBackground] = Double(record.freedInBackground.bytes)
        values[.copied] = copied
        values[.stored] = sum(reclaims, \.storedBytes)
        values[.heldCompressed] = sum(reclaims, \.compressedBytes)
        values[.written] = Double(record.outflow.copiedBytes)
        values[.spillFilePeak] = Double(record.spillFilePeak.bytes)
        if claimed > 0 {
            values[.returnedOverClaimed] = sum(reclaims, \.returnedBytes) / claimed
            let seconds = reclaims.reduce(0) { $0 + $1.durationSeconds }
            if seconds > 0 { values[.evictRate] = claimed / seconds }
        }
        if copied > 0 {
            values[.compressionRatio] = (sum(reclaims, \.storedBytes) + sum(reclaims, \.compressedBytes)) / copied
        }

        // Only what the tool saw from outside: the reclaims that its own steps asked for.
        let witnessed = reclaims.filter { $0.rssFallBytes != nil }
        if !witnessed.isEmpty {
            let fall = witnessed.reduce(0.0) { $0 + Double($1.rssFallBytes ?? 0) }
            values[.rssFall] = fall
            let claimed = sum(witnessed, \.claimedBytes)
            if claimed > 0 { values[.rssFallOverClaimed] = fall / claimed }
        }
    }

    private mutating func addProcess(_ record: RunRecord) {
        values[.rssStart] = record.residentAtStart.map { Double($0.bytes) }
        values[.rssPeak] = record.residentPeak.map { Double($0.bytes) }
        values[.rssEnd] = record.residentAtEnd.map { Double($0.bytes) }
        values[.filled] = Double(record.filled.bytes)
        values[.hogged] = Double(record.hogged.bytes)
        values[.cgroupPeak] = record.cgroupPeak.map { Double($0.bytes) }
        values[.cgroupHits] = record.cgroupHits.map(Double.init)
        values[.duration] = record.duration.seconds
    }

    private mutating func set(_ figure: Figure, _ count: Int) { values[figure] = Double(count) }

    private func sum(_ reclaims: [ReclaimRecord], _ key: KeyPath<ReclaimRecord, Int>) -> Double {
        reclaims.reduce(0) { $0 + Double($1[keyPath: key]) }
    }
}

extension AccessOutcome {
    /// The figures that tell of this outcome.
    fileprivate var figures: (count: Figure, p50: Figure, p99: Figure, max: Figure) {
        switch self {
        case .hit: (.hits, .hitP50, .hitP99, .hitMax)
        case .load: (.loads, .loadP50, .loadP99, .loadMax)
        case .restore: (.restores, .restoreP50, .restoreP99, .restoreMax)
        }
    }
}

extension Quantities {
    /// A figure's value in its unit.
    static func figure(_ value: Double, _ unit: Figure.Unit) -> String {
        switch unit {
        case .count: count(Int(value))
        case .bytes: bytes(value)
        case .seconds: duration(value)
        case .bytesPerSecond: rate(value)
        case .ratio: fixed(value, 3)
        }
    }
}
