import SpillStore

/// Small values, many at a time: one write for all of them, and units of the file that they share.
extension ChunkCopier {
    /// Victims of one batch at most: as many as a reclaim thread may begin and not look at the clock.
    static let mostBatched = 256

    /// Copies the one chunk of each of some victims, all of which have been begun. Tells of each as soon as it is known
    /// what came of it. Blocks; allocates nothing.
    ///
    /// A batch that cannot be written is tried value by value, so that a fault costs no more than one value; when
    /// those fail too, as often as suspends writing, the rest is left alone.
    func copyBatch(
        _ victims: Range<Int>,
        of storage: PlanStorage,
        with encoder: ChunkEncoder,
        done: (_ victim: Int, Result) -> Void
    ) {
        var batch = Batch()
        file.beginBatch(with: encoder)
        for victim in victims {
            if batch.count < Self.mostBatched, append(victim, of: storage, to: encoder, &batch, done) { continue }
            flush(&batch, of: storage, with: encoder, done)
            file.beginBatch(with: encoder)
            // An empty batch has room for any small value.
            _ = append(victim, of: storage, to: encoder, &batch, done)
        }
        flush(&batch, of: storage, with: encoder, done)
    }

    /// Which victims are in the encoder's batch.
    private struct Batch {
        var victims = InlineArray<256, UInt32>(repeating: 0)
        var isProvisional = InlineArray<256, Bool>(repeating: false)
        var count = 0
        var assurance = SpillAssurance.taken
    }

    /// Adds a victim's bytes; `false` when the batch has no room for them. A value that does not pass its bytes is done.
    private func append(
        _ victim: Int,
        of storage: PlanStorage,
        to encoder: ChunkEncoder,
        _ batch: inout Batch,
        _ done: (Int, Result) -> Void
    ) -> Bool {
        let place = unsafe storage.place(ofVictim: victim)
        // The storage retains every entry it lists.
        let entry = unsafe place.entry.takeUnretainedValue()
        let byteCount = unsafe storage.outcomes[victim].plainBytes
        let assurance = unsafe Self.assurance(for: entry.header(place.slot).pointee.state)
        let choice = choice.map { CodecChoice(request: $0) } ?? next(for: entry, .reclaim, assurance)
        var isPassed = false
        var isAppended = false
        unsafe entry.withSpillBytes(place.slot) { span in
            guard span.byteCount == byteCount else { return }
            isPassed = true
            // The bytes are valid until this closure returns; the batch has its own copy then.
            isAppended = unsafe span.withUnsafeBytes { unsafe file.append($0, to: encoder, compress: choice.request) }
        }
        guard isPassed else {
            done(victim, Result(failure: .valueNotPassed))
            return true
        }
        guard isAppended else { return false }
        batch.victims[batch.count] = UInt32(truncatingIfNeeded: victim)
        batch.isProvisional[batch.count] = choice.isProvisional && ChunkEncoder.compressedLimit(byteCount) != nil
        batch.count += 1
        if assurance == .onDevice { batch.assurance = .onDevice }
        return true
    }

    /// Writes the batch and tells of its victims.
    private func flush(
        _ batch: inout Batch,
        of storage: PlanStorage,
        with encoder: ChunkEncoder,
        _ done: (Int, Result) -> Void
    ) {
        var isWritten = true
        var lastFailure: SpillFailure?
        var failures = 0
        do throws(SpillFailure) {
            try file.writeBatch(with: encoder, assurance: batch.assurance)
        } catch {
            isWritten = false
        }
        for index in 0..<batch.count {
            let victim = Int(batch.victims[index])
            let place = unsafe storage.place(ofVictim: victim)
            // The storage retains every entry it lists.
            let entry = unsafe place.entry.takeUnretainedValue()
            guard isWritten else {
                if let lastFailure, lastFailure.isDiskFull || failures >= SpillBackoff.patience {
                    done(victim, Result(failure: lastFailure, isUntried: true))
                    continue
                }
                let result = unsafe copy(0..<1, of: entry, place.slot, with: encoder, for: .reclaim)
                lastFailure = result.failure
                failures = result.failure == nil ? 0 : failures + 1
                done(victim, result)
                continue
            }
            unsafe entry.note(encoder.batchRecord(index), ofChunk: 0, in: place.slot)
            done(victim, Result(isProvisional: batch.isProvisional[index]))
        }
        batch = Batch()
    }
}
