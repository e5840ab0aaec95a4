import PressureSystem

/// What one source's headroom says, and when to look at it again. Pure; allocates nothing.
///
/// It is held against the thresholds; a vote that would rise on it waits for a second sample some time later, and stays
/// what it is between a level's two thresholds. Memory that would be gone before a reclaim could end is critical already.
struct HeadroomEvaluator: Sendable {
    /// The level that follows from the last sample.
    private(set) var vote = PressureLevel.normal
    /// How bad it is here, 0 … 1.
    private(set) var score = 0.0
    /// When to look again at the latest.
    private(set) var pollDelay: Duration
    /// In what time it is all gone as things go; `nil` when that is far off.
    private(set) var exhaustion: Duration?
    /// Whether the vote is critical only because of that.
    private(set) var isForeseen = false

    private let thresholds: PressureThresholds
    private let timings: PressureTimings
    private var rhythm: PollRhythm
    private var rate = FillRate()
    /// A crossing that was seen once, for each level: when a sample that still shows it is proof.
    private var warningProof: MonotonicInstant?
    private var criticalProof: MonotonicInstant?
    private var foresightProof: MonotonicInstant?

    init(thresholds: PressureThresholds, timings: PressureTimings) {
        self.thresholds = thresholds
        self.timings = timings
        rhythm = PollRhythm(timings: timings)
        pollDelay = timings.longestPoll
    }

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - isWatched: The kernel notifies at the next threshold.
    ///   - reclaimTime: How long a reclaim takes, as far as is known.
    mutating func accept(_ headroom: Headroom, isWatched: Bool, reclaimTime: Duration, at now: MonotonicInstant) {
        let bands = thresholds.bytes(of: headroom.limit)
        let available = headroom.attainable
        rate.note(headroom.leftByOthers, entrusted: headroom.entrusted, at: now)
        let much = Double(headroom.limit.bytes) / 5
        isTaken = rate.momentary > much || rate.net > max(much, Watermarks.leastSurge)
        exhaustion = rate.exhaustion(of: available)
        let isDoomed = rate.isFalling && headroom.share < 0.5 && (exhaustion.map { $0 <= reclaimTime } ?? false)
        let seen = bands.level(available: available, held: isForeseen ? .warning : vote)
        let wait = confirmation(available: available)
        if Self.isProven(
            seen >= .critical && (vote < .critical || isForeseen),
            by: &criticalProof,
            after: wait,
            at: now
        ) {
            (vote, isForeseen) = (.critical, false)
        } else if Self.isProven(isDoomed && vote < .critical, by: &foresightProof, after: timings.shortestPoll, at: now)
        {
            (vote, isForeseen) = (.critical, true)
        } else if Self.isProven(seen >= .warning && vote < .warning, by: &warningProof, after: wait, at: now) {
            vote = .warning
        } else if isForeseen ? !isDoomed : seen < vote {
            (vote, isForeseen) = (seen, false)
        }
        score = bands.score(available: available, limit: headroom.limit)
        if isForeseen { score = max(score, 2.0 / 3) }
        let watching = rhythm.delay(available: available, next: next(bands), at: now)
        let marks = marksDelay(headroom, isWatched: isWatched)
        pollDelay = sleep(min(isWatched ? timings.longestPoll : watching, marks), from: now)
    }

    /// The fastest that others have taken memory lately, or do now, in bytes a second.
    var surge: Double { max(rate.peak, rate.momentary) }

    /// Whether others take more than a fifth of the limit a second now; less is the coming and going of the heap.
    ///
    /// What the library gives back of its heap looks for a moment as if they had given it back: so who did so for a fifth of a second
    /// is taken to go on.
    private(set) var isTaken = false

    /// In what time others could have taken what a full cache leaves free. Where the kernel notifies when they have, they are
    /// taken to do what they did lately: a notification comes late when the processors are busy.
    private func marksDelay(_ headroom: Headroom, isWatched: Bool) -> Duration {
        guard headroom.reclaimable > .zero else { return timings.longestPoll }
        let free = headroom.available.bytes - Watermarks(limit: headroom.limit).min
        return .filling(max(free, 0), at: isWatched ? .bytes(Int(max(surge, rate.latest, 1))) : timings.idleFill)
    }

    /// A second look is not put off, and a quarter of what is left may go unobserved.
    private func sleep(_ watching: Duration, from now: MonotonicInstant) -> Duration {
        var proof = criticalProof
        if let warningProof { proof = min(proof ?? warningProof, warningProof) }
        if let foresightProof { proof = min(proof ?? foresightProof, foresightProof) }
        if let proof { return proof - now }
        guard let exhaustion else { return watching }
        return min(watching, exhaustion / 4)
    }

    private func next(_ bands: ThresholdBytes) -> (threshold: ByteCount, behind: ByteCount)? {
        switch vote {
        case .normal: (bands.warningEnter, bands.criticalEnter)
        case .warning: (bands.criticalEnter, .zero)
        case .critical: nil
        }
    }

    /// Half of what is left cannot be gone before the second look.
    private func confirmation(available: ByteCount) -> Duration {
        let half = Duration.filling(available.bytes / 2, at: timings.fastestFill)
        return min(timings.confirmation, max(timings.shortestPoll, half))
    }

    /// Whether a crossing has been there for `wait`, in this sample and in all since `proof` was set.
    private static func isProven(
        _ crossed: Bool,
        by proof: inout MonotonicInstant?,
        after wait: Duration,
        at now: MonotonicInstant
    ) -> Bool {
        guard crossed else {
            proof = nil
            return false
        }
        guard let due = proof, due <= now else {
            proof = min(proof ?? now + wait, now + wait)
            return false
        }
        proof = nil
        return true
    }
}
