import PressureSignals
import PressureSystem
import SpillStore
import Synchronization

/// Batches that keep a full cache below its limit, without a word to anybody.
extension ReclaimEngine {
    /// How much has to leave for so many bytes to go back to the system.
    func leaving(for bytes: Int, of values: MemoryBooks.Reading) -> Int {
        guard let free = heap.free, case let count = history.withLock({ $0.seen }), count > 0 else { return bytes }
        return PageYield(resident: values.resident, free: free, size: values.resident / count).leaving(for: bytes)
    }

    /// The same of small values that lie beside each other; `nil` where values are large enough to leave here and there, or
    /// few, or nobody asks the heap.
    func leavingBeside(for bytes: Int, of values: MemoryBooks.Reading) -> Int? {
        guard heap.free != nil, case let count = history.withLock({ $0.seen }), count > Self.few else { return nil }
        let yield = PageYield(resident: values.resident, free: 0, size: values.resident / count)
        return yield.isPoor ? bytes + bytes / 8 + HeapRegions.bytes : nil
    }

    /// Of so few values a look is quick, and none of their regions is worth less than another.
    private static let few = 1024

    /// Whether there are so many values that a part of them has twice as much: to look at them all takes longer than to free it.
    func suffices(partFor goal: Int, of values: MemoryBooks.Reading) -> Bool {
        history.withLock { $0.seen } > Self.many && goal * 2 * PlanSample.mostParts < values.resident
    }

    /// As many are looked at in some milliseconds.
    private static let many = 8192

    /// Whether another thread is to write what leaves for other values. Of small ones only where others have taken memory lately: it
    /// seems to cost reads (0.87 × with 4 KiB, three pairs of runs, with a build that also dropped more).
    func writesAside(_ values: MemoryBooks.Reading, in room: AdmissionRoom) -> Bool {
        room.surge > 0 || values.resident >= history.withLock { $0.seen } * SegmentFile.longestBatched
    }

    /// Frees what a batch is to free, or less if that is all a look finds. Returns the bytes freed. On the reclaim thread; waits for the
    /// disk when what leaves has to be written; allocates nothing, but for telling of what could not be written.
    ///
    /// - Parameter priority: The calling thread's: if the batch is not urgent, others run first.
    func reclaim(_ batch: ReclaimBatch, root: some CandidateSource, priority: ThreadPriority? = nil) -> Int {
        guard let taken = storage.take() else {
            preconditionFailure("a batch was begun while a reclaim was running")
        }
        var progress = Progress(taken, to: primary, of: batch, priority: priority)
        let seen = history.withLock { $0.seen }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).newValue
        let last = lastBatch.exchange(UseClock.now, ordering: .relaxed)
        var sample = batch.isWhole ? PlanSample.all : PlanSample(turn: turn, of: seen, since: last)
        if let beside = batch.beside {
            progress.beside = (beside, otherwise: sample)
            // What is new is not of the sample, which stands for all.
            sample = PlanSample(turn: turn, of: seen, since: UseClock.now)
        }
        let amount = ReclaimAmount.bytes(batch.goal)
        if batch.isTrade {
            WarmPages.trading { round(&progress, root: root, amount: amount, sample: sample, pace: .steady) }
        } else {
            WarmPages.shared.close()
            round(&progress, root: root, amount: amount, sample: sample, pace: .hasty)
            WarmPages.shared.reopen()
        }
        let failures = progress.storage.tally.failures
        if !failures.isEmpty {
            onFailure?(.notSpilled(failures.map(\.failure), count: failures.reduce(0) { $0 + $1.count }))
        }
        if let failure = progress.lateFailure { onFailure?(.late(failure.pressureError(server: nil))) }
        storage.putBack(progress.storage)
        heap.note(unreturned: progress.unreturned, among: seen)
        return progress.freed
    }
}
