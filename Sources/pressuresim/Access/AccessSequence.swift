import ReportPages
import SampleContent
import ScenarioLanguage

/// Which of `population` things is accessed next, for ever.
struct AccessSequence: Sendable {
    private enum Order: Sendable {
        case sequential(next: Int)
        case uniform
        /// Ranks, and which thing has which rank.
        case zipf(ZipfDistribution, ranking: [Int])
        /// Where the run is, and how much of it is left.
        case scan(length: Int, at: Int, left: Int)
        case loop(over: Int, next: Int)
        /// Where the hot ones begin, and how many accesses are left to them.
        case hotSet(PatternSpec.HotSet, start: Int, left: Int)
        case trace(TraceKeys, next: Int)
    }

    let population: Int
    private var order: Order
    private var random: SplitMix64

    /// - Parameters:
    ///   - pattern: the order.
    ///   - population: how many things there are; at least 1.
    ///   - seed: the scenario's.
    ///   - stream: tells apart the sequences of one scenario.
    ///   - trace: the keys of a `trace` pattern.
    init(_ pattern: PatternSpec, population: Int, seed: UInt64, stream: UInt64, trace: TraceKeys? = nil) {
        precondition(population >= 1, "nothing to access")
        self.population = population
        random = SplitMix64(seed: seed, stream: stream)
        switch pattern {
        case .sequential: order = .sequential(next: 0)
        case .uniform: order = .uniform
        case .zipf(let alpha):
            // The ranking is the seed's alone: what is popular stays so from one step to the next.
            var shuffler = SplitMix64(seed: seed, stream: UInt64(population))
            let ranking = Array(0..<population).shuffled(using: &shuffler)
            order = .zipf(ZipfDistribution(count: population, alpha: alpha), ranking: ranking)
        case .scan(let length): order = .scan(length: min(length, population), at: 0, left: 0)
        case .loop(let count): order = .loop(over: min(count, population), next: 0)
        case .hotSet(let set): order = .hotSet(set, start: 0, left: set.shiftEvery ?? .max)
        case .trace: order = .trace(trace ?? TraceKeys(keys: []), next: 0)
        }
    }

    /// How many accesses are one pass: each thing once, or each line of a trace.
    var pass: Int {
        if case .trace(let keys, _) = order { keys.numbers.count } else { population }
    }

    /// What the account has to say: that a trace has more keys than there are things, so that some share one.
    var remark: String? {
        guard case .trace(let keys, _) = order, keys.distinct > population else { return nil }
        return "\(Quantities.count(keys.distinct, "key")) of the trace share \(Quantities.count(population))"
    }

    /// The next index, 0 ..< population.
    mutating func next() -> Int {
        switch order {
        case .sequential(let index):
            order = .sequential(next: (index + 1) % population)
            return index
        case .uniform:
            return Int.random(in: 0..<population, using: &random)
        case .zipf(let distribution, let ranking):
            return ranking[distribution.sample(&random) - 1]
        case .scan(let length, let index, let left):
            let first = left > 0 ? index : Int.random(in: 0..<population, using: &random)
            order = .scan(length: length, at: (first + 1) % population, left: (left > 0 ? left : length) - 1)
            return first
        case .loop(let count, let index):
            order = .loop(over: count, next: (index + 1) % count)
            return index
        case .hotSet(let set, let start, let left):
            return next(set, start: start, left: left)
        case .trace(let keys, let index):
            order = .trace(keys, next: (index + 1) % keys.numbers.count)
            return keys.numbers[index] % population
        }
    }

    private mutating func next(_ set: PatternSpec.HotSet, start: Int, left: Int) -> Int {
        let size = min(max(1, Int((Double(population) * set.size).rounded())), population)
        let isOver = left == 0
        let first = isOver ? (start + size) % population : start
        order = .hotSet(set, start: first, left: (isOver ? set.shiftEvery ?? .max : left) - 1)
        let isHot = size == population || random.unit() < set.share
        // The cold ones are those behind the hot ones, round to where these begin.
        let offset =
            isHot ? Int.random(in: 0..<size, using: &random) : Int.random(in: size..<population, using: &random)
        return (first + offset) % population
    }
}
