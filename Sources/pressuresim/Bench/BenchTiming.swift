import PressureKit

/// Repetitions and what is made of them.
enum BenchTiming {
    /// The seconds `body` takes.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let clock = SystemClock()
        let start = clock.now()
        try body()
        return (clock.now() - start).seconds
    }

    /// Measures limit and ours by turns, so that what disturbs the machine disturbs both, and takes each one's median.
    static func medians(
        _ rounds: Int,
        limit: () throws -> Double,
        ours: () throws -> Double
    ) rethrows -> (limit: Double, ours: Double) {
        var limits: [Double] = []
        var values: [Double] = []
        for _ in 0..<max(rounds, 1) {
            limits.append(try limit())
            values.append(try ours())
        }
        return (percentile(limits, 0.5), percentile(values, 0.5))
    }

    /// The smallest number that at least a share of the numbers do not exceed (nearest rank); 0 for none.
    static func percentile(_ numbers: [Double], _ share: Double) -> Double {
        guard !numbers.isEmpty else { return 0 }
        let rank = Int((share * Double(numbers.count)).rounded(.up))
        return numbers.sorted()[min(max(rank, 1), numbers.count) - 1]
    }

    /// Takes a result where the compiler cannot see that nobody wants it.
    @inline(never)
    static func consume(_ number: UInt64) { withExtendedLifetime(number) {} }
}
