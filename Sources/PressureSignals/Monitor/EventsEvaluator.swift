import PressureSystem

/// What the counters of one cgroup's `memory.events` say. Pure; allocates nothing.
///
/// A cgroup whose files fill its limit counts `max` for ever without anybody being short, so `high` and `max` count only
/// while little memory is left. Growth that goes on and on is critical: a process without swap above `memory.high` is
/// slowed down to a standstill and never reaches the killer (Containarium issue 1454). An event whose counters have not
/// changed is none: kernels before 5.13 or so wake the reader first and count later.
struct EventsEvaluator: Sendable {
    /// `high` and `max` count while less than this part of memory is left.
    static let gate = 0.25
    /// The windows of growth (two seconds is Bun's hold-off), and how many in a row are critical.
    static let window = Duration.seconds(2)
    static let sustained = 3

    /// The level that follows from the last reading.
    private(set) var vote = PressureLevel.normal
    /// What was counted that made it; `nil` at normal.
    private(set) var proof: EventCounters?

    /// Whether the last reading showed growth that counts.
    private(set) var hasGrown = false

    /// What was counted last, for the cause of a fall.
    private(set) var latest: EventCounters?

    private var last: EventCounters?
    private var heldUntil: MonotonicInstant?
    /// The number of the window in which the counters last grew, and of how many in a row it is the last.
    private var growth: (window: Int64, run: Int)?

    /// When to look again while the vote is up, so that its end is seen.
    var expiry: MonotonicInstant? { vote > .normal ? heldUntil : nil }

    /// Takes a reading.
    ///
    /// - Parameters:
    ///   - headroom: The part of memory that is left, 0 … 1; `nil` when nobody knows, and then all events count.
    mutating func accept(_ counters: EventCounters, headroom: Double?, at now: MonotonicInstant) {
        defer { last = counters }
        guard let last, let grown = counters.growth(since: last) else {
            self = EventsEvaluator()
            return
        }
        latest = grown
        var seen = PressureLevel.normal
        if grown.oom > 0 || grown.oomKill > 0 {
            seen = .critical
        } else if grown.high > 0 || grown.max > 0, headroom.map({ $0 < Self.gate }) ?? true {
            seen = note(at: now) >= Self.sustained ? .critical : .warning
        }
        hasGrown = seen > .normal
        if seen > .normal, seen >= vote {
            (vote, proof, heldUntil) = (seen, grown, now + Self.window)
        } else if seen > .normal {
            heldUntil = now + Self.window
        } else if heldUntil.map({ now >= $0 }) ?? true {
            (vote, proof, heldUntil) = (.normal, nil, nil)
        }
    }

    /// Notes growth, and says in how many windows in a row there was some.
    private mutating func note(at now: MonotonicInstant) -> Int {
        let window = now.nanoseconds / Self.window.nanoseconds
        let run =
            switch growth {
            case let growth? where growth.window == window: growth.run
            case let growth? where growth.window == window - 1: growth.run + 1
            default: 1
            }
        growth = (window, run)
        return run
    }
}
