import ReportPages

/// A goal: which ratio is looked at, and the bound it has to keep to.
struct BenchGoal: Hashable, Sendable {
    /// How value and limit become one number. The better direction is the bound's.
    enum Ratio: Hashable, Sendable {
        case valueOverLimit
        /// So many times as fast as the limit.
        case limitOverValue
        /// There is none: the bound is on the value itself.
        case none
    }

    /// Which side of the bound is good.
    enum Side: String, Hashable, Sendable {
        case atMost = "<="
        case atLeast = ">="
    }

    var ratio: Ratio
    var side: Side
    var bound: Double

    init(_ ratio: Ratio, _ side: Side, _ bound: Double) {
        self.ratio = ratio
        self.side = side
        self.bound = bound
    }

    /// `"<= 1.5"`.
    var text: String {
        let number = Quantities.fixed(bound, 2)
        let short = String(number.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
        return "\(side.rawValue) \(bound == bound.rounded() ? Quantities.fixed(bound, 0) : short)"
    }

    /// Whether a number keeps to the bound. What is no number does not.
    func holds(_ number: Double) -> Bool { side == .atMost ? number <= bound : number >= bound }

    /// Value and limit as one number; `nil` when there is none, or one of its parts is missing or zero below the line.
    func ratio(of value: Double?, to limit: Double?) -> Double? {
        guard let value, let limit else { return nil }
        switch ratio {
        case .none: return nil
        case .valueOverLimit: return limit == 0 ? nil : value / limit
        case .limitOverValue: return value == 0 ? nil : limit / value
        }
    }

    /// The number that the goal is about: the ratio, or the value where there is none.
    func number(of value: Double?, to limit: Double?) -> Double? {
        ratio == .none ? value : ratio(of: value, to: limit)
    }
}

/// What is measured, as a history and its charts know it.
struct BenchSubject: Hashable, Sendable {
    /// Stable: runs are compared by it.
    var name: String
    /// For people.
    var title: String
    /// Of the value and of its limit.
    var unit: BenchUnit
    var goal: BenchGoal
    /// What the limit is, in a few words.
    var limit: String
}

/// What was measured for a metric.
struct BenchResult: Hashable, Sendable {
    var metric: BenchMetric
    /// `nil`: it cannot be measured here.
    var value: Double?
    /// `nil` where the bound is on the value itself.
    var limit: Double?

    init(_ metric: BenchMetric, value: Double?, limit: Double? = nil) {
        self.metric = metric
        self.value = value
        self.limit = limit
    }

    /// `nil` when the metric has none, or one of its parts is missing or zero below the line.
    var ratio: Double? { metric.goal.ratio(of: value, to: limit) }

    /// Whether the goal is reached; `nil` when that was not measured.
    var holds: Bool? { metric.goal.number(of: value, to: limit).map(metric.goal.holds) }

    /// `"reached"`, `"missed"`, `"not measured"`.
    var verdict: String { holds.map { $0 ? "reached" : "missed" } ?? "not measured" }
}
