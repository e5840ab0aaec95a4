/// Which of `population` things is accessed next, for ever.
struct AccessSequence: Sendable {
    private enum Order: Sendable {
        case sequential(next: Int)
        case uniform
        /// Ranks, and which thing has which rank.
        case zipf(ZipfDistribution, ranking: [Int])
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
        case .trace: order = .trace(trace ?? TraceKeys(lines: []), next: 0)
        }
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
        case .trace(let keys, let index):
            order = .trace(keys, next: (index + 1) % keys.numbers.count)
            return keys.numbers[index] % population
        }
    }
}
