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

    /// Frees about `goal` bytes of what is not in use, or less if that is all a look finds. Returns the bytes freed. On the
    /// reclaim thread; waits for the disk when what leaves has to be written; allocates nothing, but for telling of what could not be written.
    ///
    /// - Parameters:
    ///   - beside: How many bytes will do of values that lie beside each other, if they say where they lie; `nil` for leaving by
    ///     rank alone.
    ///   - isWhole: Whether to choose among all values; among a part of them otherwise, if there are many and the goal is
    ///     small.
    ///   - isTrade: Whether other values will take the place of those that leave: their pages are kept, and it is no hurry.
    ///     Others take the memory otherwise.
    ///   - isAside: Whether another thread writes then.
    ///   - isUrgent: Whether somebody waits for it, or soon will.
    ///   - isHurried: Whether they do by now: then what has not been copied is not, and stays.
    ///   - isAwaited: Whether loads wait for so much that the heap is to be given back in between.
    ///   - isOver: Whether others have got enough, before the goal; `nil` if none of it is for them.
    ///   - priority: The calling thread's: if it is not urgent, others run first.
    ///   - room: What memory there was; `nil` while nobody watches.
    func reclaimBatch(
        _ goal: Int,
        root: some CandidateSource,
        beside: Int? = nil,
        isWhole: Bool,
        isTrade: Bool,
        isAside: Bool = true,
        isUrgent: Bool = true,
        isHurried: @escaping () -> Bool = { false },
        isAwaited: (() -> Bool)? = nil,
        isOver: (() -> Bool)? = nil,
        priority: ThreadPriority? = nil,
        room: AdmissionRoom? = nil
    ) -> Int {
        guard let taken = storage.take() else {
            preconditionFailure("a batch was begun while a reclaim was running")
        }
        var progress = Progress(taken, to: primary, residentBefore: 0)
        if isTrade { (progress.isHurried, progress.isAside) = (isHurried, isAside) }
        progress.isAwaited = isAwaited
        progress.isOver = isOver
        progress.isUrgent = isUrgent
        if !isUrgent { progress.priority = priority }
        progress.room = room
        progress.goal = goal
        let seen = history.withLock { $0.seen }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).newValue
        let last = lastBatch.exchange(UseClock.now, ordering: .relaxed)
        var sample = isWhole ? PlanSample.all : PlanSample(turn: turn, of: seen, since: last)
        if let beside {
            progress.beside = (beside, otherwise: sample)
            // What is new is not of the sample, which stands for all.
            sample = PlanSample(turn: turn, of: seen, since: UseClock.now)
        }
        if isTrade {
            WarmPages.trading {
                round(&progress, root: root, amount: .bytes(goal), sample: sample, pace: .steady)
            }
        } else {
            WarmPages.shared.close()
            round(&progress, root: root, amount: .bytes(goal), sample: sample, pace: .hasty)
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
