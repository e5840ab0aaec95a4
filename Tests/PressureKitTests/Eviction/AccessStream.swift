import Foundation
import PressureKit
import PressureKitTestSupport

/// Seeded access streams of the kinds that policies are known to differ on.
enum AccessStream: String, CaseIterable {
    /// A few keys are wanted much more often than most (Zipf, exponent 0.9).
    case zipf
    /// The same, with a scan of keys that are never wanted again in between.
    case zipfWithScans
    /// All keys in turn, again and again: more than fit.
    case loop
    /// Nine of ten accesses go to a tenth of the keys, and which tenth changes.
    case shiftingHotSet
    /// What was used last is used next (geometric stack distances).
    case recent
    /// Every key alike.
    case uniform

    /// `count` keys of `population`.
    func keys(_ count: Int, of population: Int, seed: UInt64) -> [Int] {
        var random = SeededGenerator(seed: seed)
        switch self {
        case .zipf:
            let zipf = Zipf(population, exponent: 0.9, &random)
            return (0..<count).map { _ in zipf.key(&random) }
        case .zipfWithScans:
            let half = population / 2
            let zipf = Zipf(half, exponent: 0.9, &random)
            var scan = 0
            return (0..<count).map { position in
                guard position % (half / 2) > half / 4 else { return zipf.key(&random) }
                scan = (scan + 1) % half
                return half + scan
            }
        case .loop: return (0..<count).map { $0 % population }
        case .shiftingHotSet:
            return (0..<count).map { position in
                let start = position / (2 * population) * population / 10
                let isHot = Int.random(in: 0..<10, using: &random) < 9
                return (start + Int.random(in: 0..<(isHot ? population / 10 : population), using: &random)) % population
            }
        case .recent:
            var stack = Array((0..<population).shuffled(using: &random))
            return (0..<count).map { _ in
                let uniform = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)
                let depth = min(Int(-log(uniform) * Double(population) / 6), population - 1)
                let key = stack.remove(at: depth)
                stack.insert(key, at: 0)
                return key
            }
        case .uniform: return (0..<count).map { _ in Int.random(in: 0..<population, using: &random) }
        }
    }

    /// Keys of which a few are wanted more often than the others, by how much the exponent says.
    static func zipf(_ exponent: Double, _ count: Int, of population: Int, seed: UInt64) -> [Int] {
        var random = SeededGenerator(seed: seed)
        let zipf = Zipf(population, exponent: exponent, &random)
        return (0..<count).map { _ in zipf.key(&random) }
    }

    private struct Zipf {
        private let sums: [Double]
        private let order: [Int]

        init(_ population: Int, exponent: Double, _ random: inout SeededGenerator) {
            var sum = 0.0
            sums = (1...population).map { rank in
                sum += pow(Double(rank), -exponent)
                return sum
            }
            order = (0..<population).shuffled(using: &random)
        }

        func key(_ random: inout SeededGenerator) -> Int {
            let target = Double.random(in: 0..<sums[sums.count - 1], using: &random)
            var (low, high) = (0, sums.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] > target { high = middle } else { low = middle + 1 }
            }
            return order[low]
        }
    }
}

/// Seeded sizes and costs.
enum ThingMix: String, CaseIterable {
    /// All of one size and one cost: only recency and frequency tell them apart.
    case equal
    /// Sizes from 4 KiB to 4 MiB, costs in proportion, as a restore's: nothing but the latency favours small ones.
    case proportional
    /// Sizes from 4 KiB to 4 MiB and loaders from 0.1 to 100 ms that have nothing to do with them.
    case skewed

    func things(_ count: Int, seed: UInt64) -> [PolicySimulator.Thing] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            let bytes = Int(4096 * pow(2, Double.random(in: 0..<10, using: &random)))
            let loader = Float(1e5 * pow(10, Double.random(in: 0..<3, using: &random)))
            switch self {
            case .equal: return PolicySimulator.Thing(bytes: 65_536, cost: CostEstimate.restore(byteCount: 65_536))
            case .proportional: return PolicySimulator.Thing(bytes: bytes, cost: CostEstimate.restore(byteCount: bytes))
            case .skewed: return PolicySimulator.Thing(bytes: bytes, cost: loader)
            }
        }
    }
}
