import PressureSystem

/// How long one source's headroom may go unobserved. Pure, allocates nothing.
///
/// The sleep is the time in which memory could fall to the next threshold, or a quarter of the way from there to the one
/// behind it, whichever is longer: a headroom that stands just above a threshold then costs no frenzy, and a crossing
/// is seen before a quarter of that band is gone. Memory that stands still is taken to fill at `idleFill`; for some
/// time after a fall, and at the start, at `fastestFill`.
struct PollRhythm: Sendable {
    private let timings: PressureTimings
    private var last: ByteCount?
    private var restlessUntil: MonotonicInstant?

    init(timings: PressureTimings) { self.timings = timings }

    /// The time until the next look, before it is brought between the shortest and the longest poll.
    ///
    /// - Parameters:
    ///   - available: The headroom now.
    ///   - next: The threshold that raises the level next, and the one behind it; `nil` when there is none to come.
    mutating func delay(
        available: ByteCount,
        next: (threshold: ByteCount, behind: ByteCount)?,
        at now: MonotonicInstant
    ) -> Duration {
        let margin = available - (next?.threshold ?? .zero)
        // A fall of less than 8 MiB, or of less than 1/32 of the way, is noise.
        let noise = max(8 << 20, margin.bytes / 32)
        if last.map({ $0.bytes - available.bytes > noise }) ?? true { restlessUntil = now + timings.restless }
        last = available
        guard let next else { return timings.longestPoll }
        let room = max(margin.bytes, (next.threshold.bytes - next.behind.bytes) / 4, 0)
        let moves = restlessUntil.map { now < $0 } ?? false
        return .filling(room, at: moves ? timings.fastestFill : timings.idleFill)
    }
}

extension Duration {
    /// The time in which `bytes` fill up at a rate in bytes a second; 30 years at most.
    static func filling(_ bytes: Int, at rate: ByteCount) -> Duration {
        .nanoseconds(Int64(min(Double(bytes) / Double(rate.bytes) * 1e9, 1e18)))
    }
}
