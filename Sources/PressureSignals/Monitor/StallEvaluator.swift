import PressureSystem

/// What one source's stalled time says. Pure; allocates nothing.
///
/// The growth of `total=` is the proof, whoever notified: the first event of an unprivileged trigger is false, because the
/// kernel begins its window at the stall since boot (found by Bun, issue 42783). A notification only says that the growth came
/// within one window; without it, growth over a longer time must be larger in proportion.
struct StallEvaluator: Sendable {
    /// What made the vote.
    struct Proof: Hashable, Sendable {
        var stalled: Duration
        var within: Duration
        var threshold: Duration
    }

    private struct Mark: Sendable {
        var at: MonotonicInstant
        var totals: StallTotals
    }

    /// The level that follows from the last reading.
    private(set) var vote = PressureLevel.normal
    /// How it does; `nil` at normal.
    private(set) var proof: Proof?

    /// What was measured last, for the cause of a fall.
    private(set) var latest: Proof?

    private let thresholds: StallThresholds
    /// At least a window old, once there has been one.
    private var base: Mark?
    /// The base to come.
    private var next: Mark?
    private var heldUntil: MonotonicInstant?
    /// The total when the vote was last confirmed.
    private var accepted: Int?

    init(thresholds: StallThresholds) { self.thresholds = thresholds }

    /// Takes a reading.
    ///
    /// - Parameters:
    ///   - left: The memory that is left; when nobody knows, all waiting counts.
    mutating func accept(_ reading: StallReading, left: MemoryLeft, at now: MonotonicInstant) {
        let mark = Mark(at: now, totals: reading.totals)
        guard let base, let next, reading.totals.some >= base.totals.some,
            (reading.totals.full ?? 0) >= (base.totals.full ?? 0)
        else {
            // The first look, or another cgroup of the same name.
            (self.base, self.next, vote, proof, heldUntil, accepted) = (mark, mark, .normal, nil, nil, nil)
            return
        }
        judge(reading, since: base, left: left, at: now)
        if now - next.at >= thresholds.window { (self.base, self.next) = (next, mark) }
    }

    /// Whether the waiting is our business: our own always is, if only as thrashing, that of others while memory is not
    /// plentiful.
    func counts(_ reading: StallReading, left: MemoryLeft) -> Bool {
        reading.scope == .own || (left.least.map { $0 < thresholds.strangersBelow } ?? true)
    }

    /// Whether there is so much memory where the tasks wait that only thrashing counts. The whole machine's tasks may be
    /// waiting in limits of their own, or in ours, for as long as the machine has memory.
    private func isPlenty(_ reading: StallReading, _ left: MemoryLeft) -> Bool {
        switch reading.scope {
        case .own: left.least.map { $0 >= thresholds.thrashingAbove } ?? false
        case .above: false
        case .host: left.host.map { $0 >= thresholds.strangersBelow } ?? false
        }
    }

    /// When to look again while the vote is up, so that its end is seen.
    var expiry: MonotonicInstant? { vote > .normal ? heldUntil : nil }

    private mutating func judge(
        _ reading: StallReading,
        since base: Mark,
        left: MemoryLeft,
        at now: MonotonicInstant
    ) {
        var seen = PressureLevel.normal
        var found: Proof?
        let isOurs = counts(reading, left: left)
        let span = now - base.at
        let some = Duration.microseconds(reading.totals.some - base.totals.some)
        latest = Proof(stalled: some, within: span, threshold: threshold(.warning, reading, over: span))
        if isOurs {
            let full = Duration.microseconds((reading.totals.full ?? 0) - (base.totals.full ?? 0))
            let isPlenty = isPlenty(reading, left)
            let critical = threshold(.critical, reading, over: span)
            let warning = isPlenty ? thrashing(over: span) : threshold(.warning, reading, over: span)
            if reading.totals.full != nil, full >= critical, !isPlenty {
                (seen, found) = (.critical, Proof(stalled: full, within: span, threshold: critical))
            } else if some >= warning, !isPlenty || !left.waitsForDisk {
                (seen, found) = (.warning, Proof(stalled: some, within: span, threshold: warning))
            }
        }
        // The same waiting does not count twice.
        let isNew = seen > vote || accepted.map { reading.totals.some > $0 } ?? true
        if seen >= vote, isNew, let found {
            (vote, proof, heldUntil, accepted) = (seen, found, now + thresholds.window, reading.totals.some)
        } else if !isOurs || heldUntil.map({ now >= $0 }) ?? true {
            let isStill = found != nil && isNew
            (vote, proof) = isStill ? (seen, found) : (.normal, nil)
            heldUntil = isStill ? now + thresholds.window : nil
            if isStill { accepted = reading.totals.some }
        }
    }

    /// The growth that counts although memory is plentiful; but for what is waited for a disk, which may be all the time (measured:
    /// 97 % in a stream to a disk that takes 20 MB/s).
    private func thrashing(over span: Duration) -> Duration {
        .nanoseconds(Int64(Double(max(span, thresholds.window).nanoseconds) * thresholds.thrashing))
    }

    /// The growth that proves a level over some time, a window or longer.
    private func threshold(_ level: PressureLevel, _ reading: StallReading, over span: Duration) -> Duration {
        let window = Double(thresholds.window.nanoseconds)
        let inWindow =
            if reading.isArmed {
                level == .critical ? thresholds.critical : thresholds.warning
            } else {
                Duration.nanoseconds(
                    Int64(window * (level == .critical ? thresholds.polledCritical : thresholds.polledWarning))
                )
            }
        guard !reading.hasFired, span > thresholds.window else { return inWindow }
        return .nanoseconds(Int64(Double(inWindow.nanoseconds) * (Double(span.nanoseconds) / window)))
    }
}
