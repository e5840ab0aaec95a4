import Foundation

/// Which values of a range are worth writing at an axis.
package enum Ticks {
    /// The smallest of 1, 2 and 5 times a power of ten that divides a length into `count` parts at most.
    package static func step(for length: Double, count: Int) -> Double {
        guard length > 0, length.isFinite else { return 1 }
        let least = length / Double(max(count, 1))
        let decade = pow(10, floor(Foundation.log10(least)))
        // What is a rounding error above a step is not above it.
        return decade * ([1, 2, 5].first { decade * $0 >= least * (1 - 1e-9) } ?? 10)
    }

    /// Whole multiples of a step within a range.
    static func multiples(of step: Double, from lower: Double, to upper: Double) -> [Double] {
        let first = (lower / step - 1e-9).rounded(.up)
        let last = (upper / step + 1e-9).rounded(.down)
        guard first <= last, last - first < 1000 else { return [] }
        return stride(from: first, through: last, by: 1).map { $0 == 0 ? 0 : $0 * step }
    }

    /// Multiples of a power of two, since bytes are counted in those; `count` parts at most.
    package static func bytes(from lower: Double, to upper: Double, count: Int) -> [Double] {
        let least = max((upper - lower) / Double(max(count, 1)), 1)
        return multiples(of: exp2(ceil(log2(least))), from: lower, to: upper)
    }

    /// A step as clocks have it: 1, 2, 5, 10, 15, 30 of a unit; below a second, as numbers have it.
    static func timeStep(for length: Double, count: Int) -> Double {
        let least = length / Double(max(count, 1))
        guard least > 1 else { return step(for: length, count: count) }
        let steps: [Double] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
        ]
        return steps.first { $0 >= least } ?? step(for: length / 86400, count: count) * 86400
    }

    /// The powers of ten from the one at or below a number to the one at or above another; two of them at least.
    static func decades(from lower: Double, to upper: Double) -> [Double] {
        let first = Int(floor(log10(lower) + 1e-9))
        let last = max(Int(ceil(log10(upper) - 1e-9)), first + 1)
        return (first...last).map { pow(10, Double($0)) }
    }

    /// The power.
    package static func power(of base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

    /// The logarithm.
    static func log10(_ value: Double) -> Double { Foundation.log10(value) }
}

/// Numbers on a chart.
package enum Numeral {
    /// The shortest text with two decimals at most, three for what is small: `"0.5"`, `"12"`, `"1,500"`, `"25 k"`.
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        for (name, worth) in [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)] where abs(value) >= max(worth, 10_000) {
            return "\(short(value / worth)) \(name)"
        }
        if value == value.rounded(), abs(value) < 1e15 { return Quantities.count(Int(value)) }
        let text = Quantities.fixed(value, abs(value) < 0.1 ? 3 : 2)
        return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
    }

    /// A number with so many decimals and groups of three digits: `"1,500"`, `"0.50"`.
    static func grouped(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return short(value) }
        let text = Quantities.fixed(value, decimals)
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let whole = Int(parts[0]) else { return text }
        let sign = whole == 0 && text.hasPrefix("-") ? "-" : ""
        return sign + ([Quantities.count(whole)] + parts.dropFirst().map(String.init)).joined(separator: ".")
    }

    /// Bytes in the largest unit that keeps a whole digit, without decimals that say nothing: `"64 KiB"`.
    package static func bytes(_ count: Double) -> String { Quantities.bytes(count, short) }
}
