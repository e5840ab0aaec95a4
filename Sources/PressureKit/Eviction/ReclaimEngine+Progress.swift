import PressureSignals
import PressureSystem
import SpillStore

/// What a reclaim knows of itself.
extension ReclaimEngine {
    /// What a reclaim has come to so far. One lives on the reclaim thread's stack.
    struct Progress {
        let storage: PlanStorage
        let residentBefore: Int
        /// Where this round writes to.
        var target: SpillTarget
        var phases = EvictionReport.Phases()
        var freed = 0
        var allocations = 0
        /// What could be evicted when the first round began; `nil` before.
        var evictable: Int?
        /// When the last plan was made; `nil` before the first.
        var moment: PlanMoment?
        /// What the plans are expected to come to.
        var prediction = PlanPrediction()
        /// The victim with the highest rank.
        var last: Candidate?
        /// The deadline that ended a round.
        var missedDeadline: MonotonicInstant?
        /// What write-back came to, if it failed.
        var lateFailure: SpillFailure?
        /// Whether a round has freed nothing, so that another one would not either.
        var isExhausted = false
        /// Says whether memory is short no more; `nil` when nobody knows, or more is wanted than that.
        var isOver: (() -> Bool)?
        /// Says whether others take memory so fast that nothing more is to be copied of what can be made again.
        var isHurried: (() -> Bool)?
        /// Says whether loads wait for so much that what is left in the heap, which may be that of other threads, is of no use to them.
        var isAwaited: (() -> Bool)?
        /// What was freed when that was asked last.
        private var freedAtLook = 0
        /// Whether it is.
        private(set) var hasEnded = false
        /// Whether somebody waits for what comes free, or soon will.
        var isUrgent = true
        /// The thread's, if nobody does: then others run first.
        var priority: ThreadPriority?
        /// Whether this round goes by that.
        var isHasty = false
        /// Whether a round has stopped copying for that reason.
        var isCutShort = false
        /// Whether another thread writes: this one goes on freeing memory meanwhile.
        var isAside = false
        /// The first of the choices that nothing has been done about since copying was stopped.
        var nextChoice = 0
        /// Whether a value has not become smaller by compressing. What is left goes to the disk from then on.
        var hasIncompressible = false

        /// Looks, every few MiB, whether memory is short no more: others may have freed what was missing.
        mutating func look() -> Bool {
            guard let isOver, !hasEnded, freed - freedAtLook >= Self.step else { return hasEnded }
            freedAtLook = freed
            hasEnded = isOver()
            return hasEnded
        }

        /// How much is freed between two looks.
        private static let step = 4 << 20

        // MARK: The heap

        /// What was freed when the heap was given back last…
        private var freedAtTrim = 0
        /// …and when it may be again.
        private var nextTrim: MonotonicInstant?
        private(set) var isTrimmed = false

        /// What memory there was, and how fast others take it; `nil` while nobody watches.
        var room: AdmissionRoom?
        /// What a batch is to free, after which the heap is given back where others need it.
        var goal = Int.max
        /// Where small values leave for others: how many bytes will do of them that lie beside each other, of whom a sample tells
        /// where; and of which values as many are chosen as it takes of others, if it tells nothing.
        var beside: (bytes: Int, otherwise: PlanSample)?

        /// Whether to give back what values have left in the heap: others, or loads that wait, need it before the reclaim has ended.
        /// Where that yields little, not before the system has less than is to stay free, and in a batch not before much has left; where
        /// regions are emptied, it yields much.
        func wantsTrim(of heap: FreeHeap) -> Bool {
            var worth = heap.worthGivingBack(in: room)
            if let room, room.isShrinking {
                // What little comes then goes with what is given back after the batch.
                if goal - freed < worth { return false }
                if !heap.yieldsMuch { worth = max(worth, room.high / 2) }
            }
            return unreturned >= worth && (isOver != nil || isHasty || isHurried?() ?? false || isAwaited?() ?? false)
                && (heap.yieldsMuch || isOver != nil && (storage.isNarrowed || room?.restsOnHeap ?? true))
        }

        /// Whether it may be given back again, while values leave: at most half of the time goes into that.
        func mayTrim(by clock: any MonotonicClock) -> Bool { nextTrim.map { $0 <= clock.now() } ?? true }

        /// What was freed since it was given back last, in this reclaim.
        var unreturned: Int { freed - freedAtTrim }

        /// It was given back.
        mutating func noteTrim(from start: MonotonicInstant, to end: MonotonicInstant) {
            (freedAtTrim, nextTrim, isTrimmed) = (freed, end + (end - start), true)
            phases.trim += end - start
        }

        init(_ storage: PlanStorage, to target: SpillTarget, residentBefore: Int) {
            self.storage = storage
            self.target = target
            self.residentBefore = residentBefore
        }

        /// Whether `amount` has been freed, or no more can be.
        func hasReached(_ amount: ReclaimAmount) -> Bool {
            if amount.isNothing || isExhausted || hasEnded { return true }
            if let missedDeadline, let deadline = amount.deadline, deadline <= missedDeadline { return true }
            guard let evictable, let goal = amount.goal(evictable: evictable) else { return false }
            return freed >= goal
        }
    }
}
