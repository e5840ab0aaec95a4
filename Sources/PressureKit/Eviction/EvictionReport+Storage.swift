import PressureSystem

extension EvictionReport.Prediction {
    /// From one thread's nanoseconds.
    init(_ prediction: PlanPrediction, workers: Int) {
        bytes = ByteCount(bytes: prediction.bytes)
        let time = prediction.releaseTime + prediction.writeTime / Double(workers)
        // Estimates of absurd sizes are cut at an absurd length.
        duration = .nanoseconds(Int64(min(time, 1e18)))
        futureCost = .nanoseconds(Int64(min(prediction.futureCost, 1e18)))
    }
}

/// Turning what a reclaim counted in its reserved storage into a report. Allocates: the memory is free by now.
extension EvictionReport {
    mutating func fill(from tally: ReclaimTally, isMemoryBacked: Bool) {
        unlisted = tally.unlisted
        let rows = unsafe tally.rows.indices
            .filter { unsafe tally.rows[$0].entry != nil && tally.rows[$0].count > 0 }
            .sorted { unsafe tally.rows[$0].order < tally.rows[$1].order }
        for index in rows {
            let row = unsafe tally.rows[index]
            // Retained by the tally.
            guard let entry = unsafe row.entry?.takeUnretainedValue() else { continue }
            let (resource, path) = (PressureResource(entry: entry), entry.path)
            let (count, bytes) = (row.count, ByteCount(bytes: row.bytes))
            switch row.outcome {
            case .failed:
                if let failure = row.failure { failures.append(failure.pressureError(path: path, server: row.server)) }
            case .skipped(let reason):
                skipped.append(Skipped(resource: resource, path: path, reason: reason, count: count, bytes: bytes))
            case .evicted(let outcome):
                evicted.append(
                    Evicted(
                        resource: resource,
                        path: path,
                        outcome: outcome,
                        count: count,
                        bytes: bytes,
                        storedBytes: ByteCount(bytes: row.storedBytes),
                        copyDuration: row.copyTime,
                        releaseDuration: row.releaseTime
                    )
                )
                copied.bytes += row.plainBytes
                if outcome == .compressed { heldInCompressedTier.bytes += row.storedBytes }
                if outcome == .spilled { stored.bytes += row.storedBytes }
            }
        }
        if isMemoryBacked { heldInMemoryBackedStorage = stored }
    }
}

extension Candidate.Method {
    /// What a report calls it.
    var outcome: EvictionReport.Outcome {
        switch self {
        case .release: .reused
        case .drop: .dropped
        case .spill: .spilled
        case .compress: .compressed
        }
    }
}
