/// One source's vote: its last reading, the level that follows from it, and when to look again. Pure.
///
/// A demand is the vote. A headroom is held against the thresholds; a vote that would rise on it waits for a second
/// sample some time later, and a vote stays what it is between a level's two thresholds.
struct Voter: Sendable {
    /// The last reading, whenever that was.
    private(set) var reading: SignalReading?
    /// Whether the reading came with the last step.
    private(set) var isFresh = false
    /// The level this source asks for.
    private(set) var vote = PressureLevel.normal
    /// How bad it is here, 0 … 1.
    private(set) var score = 0.0
    /// When to look again at the latest.
    private(set) var pollDelay: Duration

    private let thresholds: PressureThresholds
    private let timings: PressureTimings
    private var rhythm: PollRhythm
    private var heardAt = MonotonicInstant(nanoseconds: 0)
    /// A crossing that was seen once, for each level: when a sample that still shows it is proof.
    private var warningProof: MonotonicInstant?
    private var criticalProof: MonotonicInstant?

    init(thresholds: PressureThresholds, timings: PressureTimings) {
        self.thresholds = thresholds
        self.timings = timings
        rhythm = PollRhythm(timings: timings)
        pollDelay = timings.longestPoll
    }

    /// The thresholds that apply to the last reading; `nil` when it has no bytes.
    var bands: ThresholdBytes? { reading?.headroom.map { thresholds.bytes(of: $0.limit) } }

    /// The bytes wanted at `level` by the last reading; `nil` when it does not say.
    func goal(at level: PressureLevel) -> ByteCount? {
        switch reading?.measure {
        case .headroom(let headroom):
            thresholds.bytes(of: headroom.limit).goal(available: headroom.available, at: level)
        case .demand(_, let bytes): bytes
        case nil: nil
        }
    }

    /// Takes the next reading, or none.
    mutating func accept(_ next: SignalReading?, at now: MonotonicInstant) {
        isFresh = next != nil
        guard let next else {
            if now - heardAt >= timings.silence { demand(.normal) }
            return
        }
        reading = next
        heardAt = now
        switch next.measure {
        case .demand(let level, _): demand(level)
        case .headroom(let headroom): weigh(headroom, at: now)
        }
    }

    private mutating func demand(_ level: PressureLevel) {
        vote = level
        score = Double(level.rawValue) / 3
        pollDelay = timings.longestPoll
        warningProof = nil
        criticalProof = nil
    }

    private mutating func weigh(_ headroom: Headroom, at now: MonotonicInstant) {
        let bands = thresholds.bytes(of: headroom.limit)
        let seen = bands.level(available: headroom.available, held: vote)
        let wait = confirmation(available: headroom.available)
        if Self.isProven(seen >= .critical && vote < .critical, by: &criticalProof, after: wait, at: now) {
            vote = .critical
        } else if Self.isProven(seen >= .warning && vote < .warning, by: &warningProof, after: wait, at: now) {
            vote = .warning
        } else if seen < vote {
            vote = seen
        }
        score = bands.score(available: headroom.available, limit: headroom.limit)
        let watching = rhythm.delay(available: headroom.available, next: next(bands), at: now)
        let proof = criticalProof.map { min($0, warningProof ?? $0) } ?? warningProof
        pollDelay = proof.map { $0 - now } ?? watching
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
