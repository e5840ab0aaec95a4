/// Where values stand along one side of a chart, and which of them are written there.
package struct Axis: Hashable, Sendable {
    /// A value that is written at its place.
    package struct Tick: Hashable, Sendable {
        var value: Double
        var label: String
        /// Left out where there is little room.
        var isMinor = false

        package init(value: Double, label: String, isMinor: Bool = false) {
            (self.value, self.label, self.isMinor) = (value, label, isMinor)
        }
    }

    private enum Measure: Hashable, Sendable { case linear, logarithmic }

    let lower: Double
    let upper: Double
    let ticks: [Tick]
    private let measure: Measure

    private init(_ measure: Measure, _ lower: Double, _ upper: Double, _ ticks: [Tick]) {
        self.measure = measure
        self.lower = lower
        self.upper = upper
        self.ticks = ticks.filter { $0.value >= lower && $0.value <= upper }
    }

    /// Where a value stands: 0 at the lower end, 1 at the upper one. What is outside stands at the nearer end.
    package func position(of value: Double) -> Double {
        let part =
            switch measure {
            case .linear: (value - lower) / (upper - lower)
            case .logarithmic: Ticks.log10(max(value, lower) / lower) / Ticks.log10(upper / lower)
            }
        return part.isFinite ? min(max(part, 0), 1) : 0
    }

    /// From 0, or a negative number, up to a number of bytes, with ticks at whole powers of two. Below 0 a tick is written
    /// without its sign: there the chart hangs from the line.
    package static func bytes(from lowest: Double = 0, to highest: Double, ticks count: Int = 5) -> Axis {
        let steps = Ticks.bytes(from: min(lowest, 0), to: max(highest, 1), count: count)
        let unit = Unit.bytes(steps)
        let ticks = steps.map { Tick(value: $0, label: $0 == 0 ? "0" : unit.text(abs($0))) }
        return Axis(.linear, min(lowest, 0), max(highest, 1), ticks)
    }

    /// Seconds, minutes or hours since 0.
    package static func time(to end: Double, ticks count: Int = 6) -> Axis {
        let end = end > 0 ? end : 1
        let step = Ticks.timeStep(for: end, count: count)
        let values = Ticks.multiples(of: step, from: 0, to: end)
        let unit = Unit.seconds(values, step: step)
        let ticks = values.enumerated().map { index, value in
            Tick(value: value, label: unit.text(value), isMinor: index % 2 == 1 && values.count > 4)
        }
        return Axis(.linear, 0, end, ticks)
    }

    /// Durations from nanoseconds to hours, on a logarithmic scale with a tick at each power of ten.
    package static func durations(from shortest: Double, to longest: Double) -> Axis {
        let values = Ticks.decades(from: max(shortest, 1e-9), to: max(longest, 1e-9))
        let ticks = values.enumerated().map { index, value in
            Tick(value: value, label: label(decade: value), isMinor: index % 2 == 1 && values.count > 5)
        }
        return Axis(.logarithmic, values[0], values[values.count - 1], ticks)
    }

    /// Counts on a logarithmic scale with a tick at each power of ten.
    package static func counts(from fewest: Double, to most: Double) -> Axis {
        let values = Ticks.decades(from: max(fewest, 1), to: max(most, 10))
        let ticks = values.map { Tick(value: $0, label: Quantities.count(Int($0))) }
        return Axis(.logarithmic, values[0], values[values.count - 1], ticks)
    }

    /// Plain numbers; the ends are ticks.
    package static func numbers(from lowest: Double, to highest: Double, ticks count: Int = 4) -> Axis {
        let step = Ticks.step(for: highest > lowest ? highest - lowest : 1, count: count)
        let lower = (lowest / step).rounded(.down) * step
        let upper = max((highest / step).rounded(.up) * step, lower + step)
        let values = Ticks.multiples(of: step, from: lower, to: upper)
        let unit = Unit.numbers(values)
        return Axis(.linear, lower, upper, values.map { Tick(value: $0, label: $0 == 0 ? "0" : unit.text($0)) })
    }

    /// Positions that stand for nothing but their order: the middles of so many equal parts.
    package static func places(_ labels: [String]) -> Axis {
        let ticks = labels.enumerated().map { Tick(value: Double($0) + 0.5, label: $1) }
        return places(count: labels.count, ticks: ticks)
    }

    /// The same with labels for some of them.
    package static func places(count: Int, ticks: [Tick]) -> Axis { Axis(.linear, 0, Double(max(count, 1)), ticks) }

    private static func label(decade: Double) -> String {
        for (unit, worth) in [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)] where decade >= worth * 0.999 {
            return "\(Numeral.short(decade / worth)) \(unit)"
        }
        return "\(Numeral.short(decade * 1e9)) ns"
    }
}
