import PressureSystem
import Synchronization

/// What an ``Admission`` keeps between loads: numbers, each of which changes by itself, so that nobody waits for a reader who
/// has changed one and gets no processor. The thread that frees memory looks at them before each batch.
final class AdmissionState: Sendable {
    /// Bytes that are being loaded or restored now, or wait to be.
    private let underWay = Atomic<Int>(0)
    /// The part of them that waits for memory.
    private let waiting = Atomic<Int>(0)
    /// What those who share the limit are bringing in.
    let beside = Atomic<Int>(0)

    /// After a reclaim that brought next to nothing, no other one is asked for until then.
    let fruitlessUntil = Moment()
    /// The background reclaim has found nothing, and looks no more until then…
    let restsUntil = Moment()
    /// …or until much more has been brought in than had been then.
    private let broughtThen = Atomic<Int>(0)
    /// The heap is given back only in need until then.
    let heapRestsUntil = Moment()
    /// When it was last given back, and measured: an older sample knows nothing of it.
    let heapGivenBackAt = Moment()

    private let reclaimed = Atomic<Int>(0)
    private let overdrawn = Atomic<Int>(0)
    private let batches = Atomic<Int>(0)
    private let freed = Atomic<Int>(0)
    private let notSpilled = Atomic<Int>(0)
    private let waitedNanoseconds = Atomic<Int>(0)

    /// An instant, or none.
    struct Moment: ~Copyable, Sendable {
        private let nanoseconds = Atomic<Int64>(.min)

        var instant: MonotonicInstant? {
            let nanoseconds = nanoseconds.load(ordering: .relaxed)
            return nanoseconds == .min ? nil : MonotonicInstant(nanoseconds: nanoseconds)
        }

        func set(_ instant: MonotonicInstant?) { nanoseconds.store(instant?.nanoseconds ?? .min, ordering: .relaxed) }

        /// Whether it is yet to come.
        func isAhead(of now: MonotonicInstant) -> Bool { nanoseconds.load(ordering: .relaxed) > now.nanoseconds }
    }

    /// The ledger as it stands.
    var ledger: AdmissionLedger {
        // First: who waits was under way before. The other way round, one that begins to wait meanwhile would be taken off what is
        // under way without having been in it, and a load let in for which there is no room.
        let waiting = waiting.load(ordering: .sequentiallyConsistent)
        return AdmissionLedger(
            underWay: underWay.load(ordering: .sequentiallyConsistent),
            beside: beside.load(ordering: .relaxed),
            waiting: waiting
        )
    }

    /// What had been brought in when the background reclaim found nothing.
    var broughtAtRest: Int { broughtThen.load(ordering: .relaxed) }

    /// The background reclaim has found nothing.
    func rest(until instant: MonotonicInstant, brought: Int) {
        broughtThen.store(brought, ordering: .relaxed)
        restsUntil.set(instant)
    }

    /// A load of so many bytes has begun.
    func begin(_ bytes: Int) { underWay.wrappingAdd(bytes, ordering: .relaxed) }

    /// It has ended. Returns what is left.
    func end(_ bytes: Int) -> Int { underWay.wrappingSubtract(bytes, ordering: .sequentiallyConsistent).newValue }

    /// A load that has begun waits for memory.
    func beginWaiting(_ bytes: Int) { waiting.wrappingAdd(bytes, ordering: .sequentiallyConsistent) }

    /// It waits no longer.
    func endWaiting(_ bytes: Int) { waiting.wrappingSubtract(bytes, ordering: .sequentiallyConsistent) }

    /// The same if it may go on, in one step with the decision: two that fit one by one need not fit both.
    func endWaiting(_ bytes: Int, if mayGo: (AdmissionLedger) -> Bool) -> Bool {
        while true {
            let ledger = ledger
            guard mayGo(ledger) else { return false }
            // Whoever went on meanwhile may have taken the room.
            let isUnchanged = waiting.compareExchange(
                expected: ledger.waiting,
                desired: ledger.waiting - bytes,
                ordering: .sequentiallyConsistent
            ).exchanged
            if isUnchanged { return true }
        }
    }

    // MARK: Counts

    /// What was done so far, but for what was let in at once.
    var counts: AdmissionCounts {
        var counts = AdmissionCounts()
        counts.reclaimed = reclaimed.load(ordering: .relaxed)
        counts.overdrawn = overdrawn.load(ordering: .relaxed)
        counts.batches = batches.load(ordering: .relaxed)
        counts.freedInBackground = .bytes(freed.load(ordering: .relaxed))
        counts.notSpilled = notSpilled.load(ordering: .relaxed)
        counts.waited = .nanoseconds(Int64(waitedNanoseconds.load(ordering: .relaxed)))
        return counts
    }

    /// A load that had to wait goes on.
    func count(_ isReclaimed: Bool, after waited: Duration = .zero) {
        reclaimed.wrappingAdd(isReclaimed ? 1 : 0, ordering: .relaxed)
        overdrawn.wrappingAdd(isReclaimed ? 0 : 1, ordering: .relaxed)
        waitedNanoseconds.wrappingAdd(Int(clamping: waited.nanoseconds), ordering: .relaxed)
    }

    /// A batch was made.
    func count(batch bytes: Int) {
        batches.wrappingAdd(1, ordering: .relaxed)
        freed.wrappingAdd(bytes, ordering: .relaxed)
    }

    /// So many values could not be written.
    func count(notSpilled count: Int) { notSpilled.wrappingAdd(count, ordering: .relaxed) }
}
