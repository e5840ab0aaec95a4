package import PressureSystem

/// Turns readings into levels and wishes for reclaim. Pure: time comes in with each call, nothing is waited for.
///
/// The highest vote wins. The level rises at once to what the votes say; it falls one level at a time, each after the
/// votes have stayed below it for the dwell. While a level lasts, reclaim is asked for again and again, as
/// ``ReclaimPacing`` allows. Steps allocate nothing.
package struct PressureClassifier: Sendable {
    /// The level now.
    package private(set) var level = PressureLevel.normal
    /// How bad it is, 0 … 1: the worst score of any source. Warning begins at 1/3, critical at 2/3; it has no dwell.
    package private(set) var score = 0.0

    private let timings: PressureTimings
    private let stallWindow: Duration
    private(set) var evaluators: [LevelEvaluator]
    private var pacing: ReclaimPacing
    private var freed = FreedLedger()
    /// The process's own resident bytes at the last step; `nil` where nobody says.
    private(set) var resident: Int?
    /// How long a reclaim takes: a running average of those that freed something.
    private var reclaimTime: Duration
    /// Until when to look often, because the kernel has notified.
    private var alertUntil: MonotonicInstant?
    /// When the last reclaim ended, until memory has been looked at once it had settled.
    private var unsettledSince: MonotonicInstant?
    /// Until when waiting is taken to be for a disk.
    private var diskUntil: MonotonicInstant?
    /// Whose vote the level stands on, for the cause of its fall.
    private var holder: Int?
    /// Since when all votes are below the level.
    private var lowerSince: MonotonicInstant?

    /// Creates a classifier at normal for a fixed number of sources. The thresholds must be valid.
    package init(thresholds: PressureThresholds, timings: PressureTimings = .init(), sources: Int) {
        self.timings = timings
        stallWindow = thresholds.stall.window
        evaluators = Array(repeating: LevelEvaluator(thresholds: thresholds, timings: timings), count: sources)
        pacing = ReclaimPacing(timings: timings)
        reclaimTime = timings.assumedReclaim
    }

    /// The bytes left of the limit that binds most; `nil` when no source has told any.
    package var headroom: Headroom? {
        var worst: (score: Double, headroom: Headroom)?
        for evaluator in evaluators {
            guard let headroom = evaluator.headroom, evaluator.score >= worst?.score ?? 0 else { continue }
            worst = (evaluator.score, headroom)
        }
        return worst?.headroom
    }

    /// The smallest part that is left of any limit of the system's, 0 … 1; `nil` when no source has told any. The app's
    /// own limit on its footprint is not among them.
    package var headroomShare: Double? {
        var least: Double?
        for index in evaluators.indices where evaluators[index].reading?.origin != .footprint {
            guard let headroom = evaluators[index].headroom else { continue }
            least = min(least ?? 1, headroom.share)
        }
        return least
    }

    /// The part of the machine's memory that is left; `nil` when no source has told it.
    private var hostShare: Double? {
        for index in evaluators.indices where evaluators[index].reading?.origin == .memoryInfo {
            if let headroom = evaluators[index].headroom { return headroom.share }
        }
        return nil
    }

    /// Takes one reading of each source and decides.
    ///
    /// - Parameters:
    ///   - readings: By source, always in the same order; `nil` where a source has no news.
    ///   - now: Not before the step before.
    ///   - resident: The process's own resident bytes: of a shortage that it shares with others it frees its part only.
    /// - Returns: What to tell, if anything, and how long to wait before the next step at most.
    package mutating func step(
        _ readings: [SignalReading?],
        at now: MonotonicInstant,
        resident: Int? = nil
    ) -> (decision: PressureDecision?, nextPoll: Duration) {
        precondition(readings.count == evaluators.count, "one reading for each source")
        self.resident = resident
        accept(readings, at: now)
        forgetFreed()
        score = 0
        for index in evaluators.indices { score = max(score, evaluators[index].score) }
        let before = level
        guard let leader = leader() else { return (nil, timings.longestPoll) }
        move(towards: evaluators[leader].vote, at: now)
        let reclaim = level >= before ? wish(at: now) : nil
        if let reclaim { pacing.noteWish(reclaim.level, at: now) }
        if let since = unsettledSince, now >= since + settle { unsettledSince = nil }
        let nextPoll = nextPoll(votes: evaluators[leader].vote, at: now)
        let speaker = level < before ? holder ?? leader : leader
        if evaluators[leader].vote >= level { holder = leader }
        guard level != before || reclaim != nil else { return (nil, nextPoll) }
        let cause = cause(evaluators[speaker], before: before, at: now)
        return (PressureDecision(cause: cause, score: score, reclaim: reclaim), nextPoll)
    }

    /// A reclaim ended: what it cost and what it returned decide when the next may be asked for, and the bytes count
    /// against goals from samples taken before `end`.
    ///
    /// - Parameters:
    ///   - level: The level it was made for; `normal` for one that the monitor did not ask for, of which only the bytes
    ///     count.
    ///   - duration: How long it took.
    ///   - returned: What the system got back.
    package mutating func noteReclaim(
        at level: PressureLevel,
        duration: Duration,
        returned: ByteCount,
        end: MonotonicInstant
    ) {
        // What others asked for says nothing about the pace of what the monitor asks for.
        if level > .normal {
            pacing.noteReclaim(level, took: duration, returned: returned, at: end)
            unsettledSince = end
            if returned >= timings.fruitful {
                reclaimTime = min(max((reclaimTime * 3 + duration) / 4, .milliseconds(50)), .seconds(10))
            }
        }
        freed.note(returned, at: end)
    }

    /// Bytes were returned to the system otherwise than by a reclaim that `noteReclaim` tells of.
    package mutating func noteFreed(_ bytes: ByteCount, at instant: MonotonicInstant) { freed.note(bytes, at: instant) }

    /// What all samples show already counts no more.
    private mutating func forgetFreed() {
        var oldest: MonotonicInstant?
        for index in evaluators.indices where evaluators[index].headroom != nil {
            guard let takenAt = evaluators[index].reading?.takenAt else { continue }
            oldest = min(oldest ?? takenAt, takenAt)
        }
        if let oldest { freed.forget(until: oldest) }
    }

    /// Headroom first: what the other kinds mean depends on it.
    private mutating func accept(_ readings: [SignalReading?], at now: MonotonicInstant) {
        for index in evaluators.indices {
            guard case .headroom? = readings[index]?.measure else { continue }
            evaluators[index].accept(readings[index], left: MemoryLeft(), reclaimTime: reclaimTime, at: now)
        }
        for index in evaluators.indices where evaluators[index].isFresh {
            // The window before the one in which the waiting was seen, and that.
            if evaluators[index].headroom?.waitsForDisk ?? false { diskUntil = now + stallWindow * 2 }
        }
        let waitsForDisk = diskUntil.map { now <= $0 } ?? false
        let left = MemoryLeft(least: headroomShare, host: hostShare, waitsForDisk: waitsForDisk)
        for index in evaluators.indices {
            if case .headroom? = readings[index]?.measure { continue }
            evaluators[index].accept(readings[index], left: left, reclaimTime: reclaimTime, at: now)
            if evaluators[index].isFresh, evaluators[index].isAlarmed { alertUntil = now + timings.alertTime }
        }
    }

    private func cause(_ evaluator: LevelEvaluator, before: PressureLevel, at now: MonotonicInstant) -> PressureCause {
        let bands = evaluator.bands
        let reading = evaluator.reading
        return PressureCause(
            origin: reading?.origin ?? .request,
            source: reading?.source ?? "",
            available: reading?.headroom?.available,
            reclaimable: reading?.headroom?.reclaimable ?? .zero,
            limit: reading?.headroom?.limit,
            threshold: level < before ? bands?.leave(before) : bands?.enter(level),
            evidence: evaluator.evidence,
            sampleAge: max(.zero, now - (reading?.takenAt ?? now)),
            levelBefore: before,
            levelAfter: level
        )
    }

    /// The evaluator with the highest vote, and of those the worst off. A evaluator that has never spoken has no say.
    private func leader() -> Int? {
        var leader: Int?
        for index in evaluators.indices where evaluators[index].reading != nil {
            guard let best = leader else {
                leader = index
                continue
            }
            if (evaluators[index].vote, evaluators[index].score) > (evaluators[best].vote, evaluators[best].score) {
                leader = index
            }
        }
        return leader
    }

    private mutating func move(towards vote: PressureLevel, at now: MonotonicInstant) {
        guard vote < level else {
            level = vote
            lowerSince = nil
            return
        }
        guard let since = lowerSince else {
            lowerSince = now
            return
        }
        guard now - since >= timings.dwell, let lower = PressureLevel(rawValue: level.rawValue - 1) else { return }
        level = lower
        lowerSince = vote < lower ? now : nil
    }

    /// The reclaim to ask for now: when a source says so in this very step, the pace allows it, and something is left
    /// to want after what was freed since the sample. Of several goals the largest counts.
    private func wish(at now: MonotonicInstant) -> ReclaimGoal? {
        guard level > .normal, due(at: now).map({ $0 <= now }) ?? true else { return nil }
        var wish: ReclaimGoal?
        for index in evaluators.indices where evaluators[index].isFresh && evaluators[index].vote >= level {
            guard let takenAt = evaluators[index].reading?.takenAt else { continue }
            let bytes = evaluators[index].goal(at: level, resident: resident).map {
                max(.zero, $0 - freed.freed(since: takenAt))
            }
            if bytes == .zero { continue }
            if let present = wish, (bytes ?? .zero) <= (present.bytes ?? .zero) { continue }
            wish = ReclaimGoal(level: level, bytes: bytes, takenAt: takenAt)
        }
        return wish
    }

    /// When reclaim may be asked for again; `nil` when at any time.
    ///
    /// Where critical memory would be gone before the pause is over, and the last reclaim freed something, it is when that one has
    /// settled: the pace is there to save work, not to die of.
    private func due(at now: MonotonicInstant) -> MonotonicInstant? {
        guard let paced = pacing.earliest(for: level), paced > now else { return nil }
        guard level == .critical, let exhaustion = exhaustion(at: level), now + exhaustion < paced,
            let end = pacing.fruitfulEnd
        else { return paced }
        return min(paced, end + settle)
    }

    /// How long after a reclaim memory is measured again.
    private var settle: Duration {
        guard let exhaustion = exhaustion(at: level) else { return timings.settle }
        return min(timings.settle, max(exhaustion / 4, timings.shortestPoll))
    }

    /// The shortest time in which a source that votes for `level` or more runs out.
    private func exhaustion(at level: PressureLevel) -> Duration? {
        var shortest: Duration?
        for index in evaluators.indices where evaluators[index].vote >= level && evaluators[index].headroom != nil {
            guard let time = evaluators[index].headroomEvaluator.exhaustion else { continue }
            shortest = min(shortest ?? time, time)
        }
        return shortest
    }

    private func nextPoll(votes vote: PressureLevel, at now: MonotonicInstant) -> Duration {
        var delay = level == .normal ? timings.longestPoll : timings.pressedPoll
        for index in evaluators.indices { delay = min(delay, evaluators[index].pollDelay) }
        if let lowerSince { delay = min(delay, lowerSince + timings.dwell - now) }
        if level > .normal, vote >= level, let due = due(at: now) { delay = min(delay, due - now) }
        if let alertUntil, now < alertUntil { delay = min(delay, timings.alertPoll) }
        if level > .normal, let since = unsettledSince { delay = min(delay, since + settle - now) }
        return max(delay, timings.shortestPoll)
    }
}
