import SpillStore
import Synchronization

/// Values that are written together, by number: all of them small, and being copied.
protocol BatchedVictims {
    /// Whose value it is. Kept by whoever has the batch.
    func entry(ofVictim victim: Int) -> CacheEntry
    /// Where it is.
    func slot(ofVictim victim: Int) -> UnsafeMutableRawPointer
    /// What its copy has to hold.
    func plainBytes(ofVictim victim: Int) -> Int
    /// What they are copied for.
    var purpose: CodecChoice.Purpose { get }
}

extension PlanStorage: BatchedVictims {
    // The storage retains every entry it lists.
    func entry(ofVictim victim: Int) -> CacheEntry { unsafe place(ofVictim: victim).entry.takeUnretainedValue() }

    func slot(ofVictim victim: Int) -> UnsafeMutableRawPointer { unsafe place(ofVictim: victim).slot }

    func plainBytes(ofVictim victim: Int) -> Int { unsafe outcomes[victim].plainBytes }
}

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
        of batched: some BatchedVictims,
        with encoder: ChunkEncoder,
        done: (_ victim: Int, Result) -> Void
    ) {
        var batch = Batch()
        file.beginBatch(with: encoder)
        for victim in victims {
            if batch.count < Self.mostBatched, append(victim, of: batched, to: encoder, &batch, done) { continue }
            flush(&batch, of: batched, with: encoder, done)
            file.beginBatch(with: encoder)
            // An empty batch has room for any small value.
            if append(victim, of: batched, to: encoder, &batch, done) { continue }
            // It was taken for one, until its bytes were made. The batch is ended: the encoder is needed.
            flush(&batch, of: batched, with: encoder, done)
            done(victim, copyAlone(victim, of: batched, made: batch.made, with: encoder))
            batch.made = nil
            file.beginBatch(with: encoder)
        }
        flush(&batch, of: batched, with: encoder, done)
    }

    /// Which victims are in the encoder's batch.
    private struct Batch {
        var victims = InlineArray<256, UInt32>(repeating: 0)
        var isProvisional = InlineArray<256, Bool>(repeating: false)
        var count = 0
        var assurance = SpillAssurance.taken
        /// Whose bytes the encoder's piece has, and how many, if they had to be made.
        var made: (victim: Int, byteCount: Int)?
    }

    /// Adds a victim's bytes; `false` when the batch has no room for them. A value that does not pass its bytes is done.
    private func append(
        _ victim: Int,
        of batched: some BatchedVictims,
        to encoder: ChunkEncoder,
        _ batch: inout Batch,
        _ done: (Int, Result) -> Void
    ) -> Bool {
        let (entry, slot) = unsafe (batched.entry(ofVictim: victim), batched.slot(ofVictim: victim))
        let byteCount = batched.plainBytes(ofVictim: victim)
        let assurance = unsafe Self.assurance(for: entry.header(slot).pointee.state)
        let choice = choice.map { CodecChoice(request: $0) } ?? next(for: entry, batched.purpose, assurance)
        var isPassed = false
        var isAppended = false
        if entry.encodesWhenSpilled {
            guard let count = unsafe make(victim, of: entry, slot, with: encoder, &batch) else {
                done(victim, Result(failure: .valueNotPassed))
                return true
            }
            guard 1...SegmentFile.longestBatched ~= count else { return false }
            let plain = unsafe UnsafeRawBufferPointer(rebasing: encoder.pieceBytes[..<count])
            guard unsafe file.append(plain, to: encoder, compress: choice.request) else { return false }
            batch.made = nil
            unsafe entry.noteEncoded(slot, byteCount: count, in: file)
            note(encoder.batchTrial, of: entry)
            add(victim, byteCount: count, choice, assurance, to: &batch)
            return true
        }
        unsafe entry.withSpillBytes(slot) { span in
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
        note(encoder.batchTrial, of: entry)
        add(victim, byteCount: byteCount, choice, assurance, to: &batch)
        return true
    }

    private func add(
        _ victim: Int,
        byteCount: Int,
        _ choice: CodecChoice,
        _ assurance: SpillAssurance,
        to batch: inout Batch
    ) {
        batch.victims[batch.count] = UInt32(truncatingIfNeeded: victim)
        batch.isProvisional[batch.count] = choice.isProvisional && ChunkEncoder.compressedLimit(byteCount) != nil
        batch.count += 1
        if assurance == .onDevice { batch.assurance = .onDevice }
    }

    /// Copies a value that does not fit a batch; from the encoder's piece, if all its bytes are there.
    private func copyAlone(
        _ victim: Int,
        of batched: some BatchedVictims,
        made: (victim: Int, byteCount: Int)?,
        with encoder: ChunkEncoder
    ) -> Result {
        let (entry, slot) = unsafe (batched.entry(ofVictim: victim), batched.slot(ofVictim: victim))
        guard let made, made.victim == victim, 1...SegmentFile.chunkSize ~= made.byteCount else {
            return unsafe copy(0..<1, of: entry, slot, with: encoder, for: batched.purpose)
        }
        let assurance = unsafe Self.assurance(for: entry.header(slot).pointee.state)
        var result = Result()
        do throws(SpillFailure) {
            let plain = unsafe UnsafeRawBufferPointer(rebasing: encoder.pieceBytes[..<made.byteCount])
            let record = try unsafe write(plain, to: file, encoder, entry, assurance, batched.purpose, &result)
            unsafe entry.noteEncoded(slot, byteCount: made.byteCount, in: file)
            unsafe entry.note(record, ofChunk: 0, in: slot)
        } catch {
            result.failure = error
        }
        return result
    }

    /// Has a value make its bytes in the encoder's piece, unless they are there already: how many, or more than there is
    /// room for; `nil` when it cannot.
    private func make(
        _ victim: Int,
        of entry: CacheEntry,
        _ slot: UnsafeMutableRawPointer,
        with encoder: ChunkEncoder,
        _ batch: inout Batch
    ) -> Int? {
        if let made = batch.made, made.victim == victim { return made.byteCount }
        var isTooLong = false
        // The encoder is this thread's, and so is its memory.
        let writer = unsafe SpillWriter(piece: encoder.pieceBytes) { _ in
            isTooLong = true
            throw SpillFailure.valueNotPassed
        }
        do {
            try unsafe entry.writeSpillBytes(slot, to: writer)
        } catch {
            guard isTooLong else { return nil }
        }
        let count = isTooLong ? Int.max : writer.byteCount
        batch.made = (victim, count)
        return count
    }

    /// Learns whether a cache's small values are worth compressing: at once, for the next one may be another of its.
    private func note(_ trial: CodecTrial?, of entry: CacheEntry) {
        guard let trial else { return }
        var memory = CodecMemory(rawValue: entry.statistics.codecMemory.load(ordering: .relaxed))
        memory.note(trial)
        entry.statistics.codecMemory.store(memory.rawValue, ordering: .relaxed)
    }

    /// Writes the batch and tells of its victims.
    private func flush(
        _ batch: inout Batch,
        of batched: some BatchedVictims,
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
        if isWritten { rates(batch.assurance).lock.withLock { $0.note(encoder.batchCost) } }
        for index in 0..<batch.count {
            let victim = Int(batch.victims[index])
            let (entry, slot) = unsafe (batched.entry(ofVictim: victim), batched.slot(ofVictim: victim))
            guard isWritten else {
                if let lastFailure, lastFailure.isDiskFull || failures >= SpillBackoff.patience {
                    done(victim, Result(failure: lastFailure, isUntried: true))
                    continue
                }
                let result = unsafe copy(0..<1, of: entry, slot, with: encoder, for: batched.purpose)
                lastFailure = result.failure
                // What concerns the value only says nothing about the next.
                failures = result.failure.map { $0.concernsValueOnly ? failures : failures + 1 } ?? 0
                done(victim, result)
                continue
            }
            unsafe entry.note(encoder.batchRecord(index), ofChunk: 0, in: slot)
            done(victim, Result(isProvisional: batch.isProvisional[index]))
        }
        // Values that were tried one by one have had the piece.
        let made = isWritten ? batch.made : nil
        batch = Batch()
        batch.made = made
    }
}
