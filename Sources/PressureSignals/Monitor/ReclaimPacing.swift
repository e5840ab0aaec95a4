import PressureSystem

/// When reclaim may be asked for again. Pure, allocates nothing.
///
/// Two clocks run: the repetition since the last wish, and the pause since the last reclaim ended, which grows with what
/// reclaim cost and shrinks with nothing. Neither holds back a wish of a higher level: what warning spared may have to go
/// at critical.
struct ReclaimPacing: Sendable {
    private struct Wish {
        var level: PressureLevel
        var at: MonotonicInstant
    }

    private struct Pause {
        var level: PressureLevel
        var cost: Duration
        var fruitless: Bool
        var from: MonotonicInstant
    }

    private let timings: PressureTimings
    private var wish: Wish?
    private var pause: Pause?

    init(timings: PressureTimings) { self.timings = timings }

    /// Reclaim was asked for.
    mutating func noteWish(_ level: PressureLevel, at instant: MonotonicInstant) {
        wish = Wish(level: level, at: instant)
    }

    /// A reclaim ended.
    mutating func noteReclaim(
        _ level: PressureLevel,
        took cost: Duration,
        returned: ByteCount,
        at end: MonotonicInstant
    ) {
        pause = Pause(level: level, cost: max(cost, .zero), fruitless: returned < timings.fruitful, from: end)
    }

    /// The end of the last reclaim, when it came after the last wish and was worth it: another one may be worth it, too.
    var fruitfulEnd: MonotonicInstant? {
        guard let pause, !pause.fruitless, wish.map({ pause.from >= $0.at }) ?? true else { return nil }
        return pause.from
    }

    /// The first instant at which reclaim may be asked for at `level`; `nil` when at any.
    func earliest(for level: PressureLevel) -> MonotonicInstant? {
        var earliest: MonotonicInstant?
        if let wish, wish.level >= level { earliest = wish.at + timings.repetition(level) }
        if let pause, pause.level >= level {
            let length = max(
                timings.pause(level),
                pause.cost * timings.pausePerReclaim,
                pause.fruitless ? timings.fruitlessPause : .zero
            )
            earliest = max(earliest ?? pause.from, pause.from + length)
        }
        return earliest
    }
}
