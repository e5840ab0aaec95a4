import Foundation

/// Numbers from 1 to `count`, k with a probability in proportion to 1/k^alpha.
///
/// Rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6 (1996). A constant time a number and no table, whatever the count.
package struct ZipfDistribution: Sendable {
    let count: Int
    let alpha: Double
    private let integralOfFirst: Double
    private let integralOfLast: Double
    private let shortcut: Double

    /// - Parameters:
    ///   - count: at least 1.
    ///   - alpha: above 0.
    package init(count: Int, alpha: Double) {
        precondition(count >= 1 && alpha > 0, "a Zipf distribution is over at least one rank with a positive exponent")
        self.count = count
        self.alpha = alpha
        integralOfFirst = Self.integral(1.5, alpha) - 1
        integralOfLast = Self.integral(Double(count) + 0.5, alpha)
        shortcut = 2 - Self.inverse(Self.integral(2.5, alpha) - Self.weight(2, alpha), alpha)
    }

    /// Draws one rank.
    package func sample(_ random: inout SplitMix64) -> Int {
        while true {
            let area = integralOfLast + random.unit() * (integralOfFirst - integralOfLast)
            let x = Self.inverse(area, alpha)
            let rank = min(max(Int(x.rounded()), 1), count)
            let k = Double(rank)
            if k - x <= shortcut || area >= Self.integral(k + 0.5, alpha) - Self.weight(k, alpha) { return rank }
        }
    }

    /// The probability of a rank; O(count), for tests and tables.
    func probability(of rank: Int) -> Double {
        let total = (1...count).reduce(0) { $0 + Self.weight(Double($1), alpha) }
        return Self.weight(Double(rank), alpha) / total
    }

    private static func weight(_ x: Double, _ alpha: Double) -> Double { exp(-alpha * log(x)) }

    /// An integral of the weight: (x^(1−alpha) − 1) / (1−alpha), which is log x at alpha = 1.
    private static func integral(_ x: Double, _ alpha: Double) -> Double {
        let logarithm = log(x)
        let t = (1 - alpha) * logarithm
        return (abs(t) > 1e-8 ? expm1(t) / t : 1 + t / 2 * (1 + t / 3)) * logarithm
    }

    private static func inverse(_ y: Double, _ alpha: Double) -> Double {
        let t = max(y * (1 - alpha), -1)
        return exp((abs(t) > 1e-8 ? log1p(t) / t : 1 - t / 2 * (1 - t * 2 / 3)) * y)
    }
}
