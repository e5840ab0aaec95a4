/// When a plan is made: all that an order of eviction may know besides the candidate itself.
package struct PlanMoment: Sendable {
    /// The reading of the ``UseClock``.
    package var now: UInt32
    /// For how many ticks the plan looks ahead: as many as are likely to pass before the next reclaim.
    package var horizon: UInt32
    /// The ``Candidate/arrival`` of what the last plan's hand comes to next, for policies that have one.
    package var hand: UInt32
    /// Whether hits fade with this plan: once for each time that as many values came in as there are.
    package var fades: Bool
    /// Against what ages are measured.
    package var scale = UseScale(population: 0)
    /// What keeping values is worth, as far as it has been learned.
    package var worth = UseTable()
    /// Whether more will have to go soon, whatever this plan takes: memory is kept full, and plans are small. Then nothing
    /// is gained by taking a smaller last victim than the one whose turn it is.
    package var isSteady = false

    /// Creates a moment.
    package init(
        now: UInt32,
        horizon: UInt32 = 1,
        hand: UInt32 = 0,
        fades: Bool = false,
        reuse: borrowing ReuseTable = .new
    ) {
        worth = reuse.worth
        self.now = now
        self.horizon = max(1, horizon)
        self.hand = hand
        self.fades = fades
    }
}

/// Where a sequence of plans stands between two of them. Pure.
package struct PlanHistory: Sendable {
    private var lastReclaim: UInt32
    private var horizon: UInt32?
    private var hand: UInt32 = 0
    private var lastFading: UInt32
    private var reuse = ReuseTable.new
    private var scale = UseScale(population: 0)
    private var lastLesson: UInt32
    /// How many values the last plan saw: near enough to how many the next one will.
    package private(set) var seen = 0

    /// A history without a plan that begins at a reading of the ``UseClock``.
    package init(start: UInt32) {
        lastReclaim = start
        lastFading = start
        lastLesson = start
    }

    /// The moment of a reclaim that begins now, `count` values being in memory.
    ///
    /// The time to the next reclaim is taken to be the average of the last interval and what was expected before it: the
    /// last one alone would make one quiet hour, or two warnings at once, the measure of everything.
    package mutating func begin(at now: UInt32, count: Int) -> PlanMoment {
        let interval = max(1, now &- lastReclaim)
        let expected = horizon.map { $0 / 2 + interval / 2 + ($0 & interval & 1) } ?? interval
        lastReclaim = now
        horizon = expected
        let fades = now &- lastFading >= UInt32(clamping: count)
        if fades { lastFading = now }
        scale.follow(count)
        return moment(at: now, horizon: expected, fades: fades)
    }

    /// The moment of a plan beside the sequence: it leaves no trace there.
    package func moment(at now: UInt32) -> PlanMoment { moment(at: now, horizon: horizon ?? 1, fades: false) }

    private func moment(at now: UInt32, horizon: UInt32, fades: Bool) -> PlanMoment {
        var moment = PlanMoment(now: now, horizon: horizon, hand: hand, fades: fades, reuse: reuse)
        moment.scale = scale
        return moment
    }

    /// Plans have seen uses, and ends of waiting for them.
    package mutating func learn(_ seen: borrowing UseCounts, at now: UInt32) {
        let turnovers = Float(now &- lastLesson) / Float(scale.population)
        lastLesson = now
        reuse.learn(seen, turnovers: turnovers, scale)
    }

    /// A plan has been made when there were `seen` values, and its hand stopped here. A plan over a sample says how many
    /// there are in all.
    package mutating func note(hand: UInt32, seen: Int = 0) {
        self.hand = hand
        self.seen = seen
    }
}
