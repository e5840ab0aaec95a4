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

/// Turning what a relief noted in its reserved storage into a report. Allocates: the memory is free by now.
extension EvictionReport {
    mutating func fill(from storage: PlanStorage, isMemoryBacked: Bool) {
        var rows: [(order: Int, row: Evicted)] = []
        for index in 0..<storage.candidateCount {
            let outcome = unsafe storage.outcomes[index]
            // Retained by the storage.
            let entry = unsafe storage.places[index].entry.takeUnretainedValue()
            if let failure = outcome.failure { failures.append(failure.pressureError(path: entry.path)) }
            guard outcome.order > 0 else { continue }
            let way = unsafe storage.candidates[index].way
            rows.append(
                (
                    outcome.order,
                    Evicted(
                        resource: PressureResource(entry: entry),
                        path: entry.path,
                        disposition: way == .spill ? .spilled : way == .drop ? .dropped : .reused,
                        bytes: ByteCount(bytes: outcome.bytes),
                        storedBytes: ByteCount(bytes: outcome.storedBytes),
                        copyDuration: outcome.copyTime,
                        releaseDuration: outcome.releaseTime
                    )
                )
            )
            guard way == .spill else { continue }
            copied.bytes += outcome.plainBytes
            stored.bytes += outcome.storedBytes
        }
        evicted += rows.sorted { $0.order < $1.order }.map(\.row)
        if isMemoryBacked { heldInMemoryBackedStorage = stored }
        for index in 0..<storage.skipCount {
            let skip = unsafe storage.skips[index]
            let entry = unsafe skip.entry.takeUnretainedValue()
            unsafe skipped.append(
                Skipped(
                    resource: PressureResource(entry: entry),
                    path: entry.path,
                    reason: skip.reason,
                    bytes: ByteCount(bytes: skip.footprint)
                )
            )
        }
    }
}
