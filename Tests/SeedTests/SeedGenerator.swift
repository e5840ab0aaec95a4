import PressureKitTestSupport

extension SeedPlan {
    /// The run that a seed stands for.
    ///
    /// - Parameter length: how many steps there are at most after the first, which make controllers and caches.
    init(seed: UInt64, length: Int = 40) {
        var random = SeededGenerator(seed: seed)
        func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

        var setting = SeedSetting()
        setting.managers = one(in: 8) ? 2 : 1
        setting.limit = [96, 256, 512, 4096][number(4)]
        setting.tier = one(in: 2) ? 0 : 1 + number(2)
        setting.order = number(2)
        setting.direct = one(in: 4) ? number(4) : 0
        setting.later = number(2)
        setting.ahead = one(in: 4) ? 1 : 0
        setting.memory = one(in: 16) ? 1 : 0
        setting.nameless = one(in: 8) ? 0 : 1
        // Drawn apart, so that everything else is what the seed has always stood for.
        var apart = SeededGenerator(seed: ~seed)
        setting.server = Int.random(in: 0..<6, using: &apart) == 0 ? 1 : 0

        var steps: [SeedStep] = []
        for _ in 0...number(3) { steps.append(SeedStep(.controller, number(8), number(6))) }
        for _ in 0...1 + number(4) {
            let verb: SeedStep.Verb = [.lazy, .lazy, .keyed, .keyed, .suspending][number(5)]
            steps.append(SeedStep(verb, number(8), number(64), number(64)))
        }
        for _ in 0..<2 + number(6) { steps.append(SeedStep(.set, number(64), number(1000))) }
        for _ in 0..<length / 2 + number(length / 2) { steps.append(Self.step(&random)) }
        self.init(seed: seed, setting: setting, steps: steps)
    }

    /// Verbs by how often they are drawn.
    private static let urn: [SeedStep.Verb] = [
        (SeedStep.Verb.set, 12), (.update, 7), (.orMake, 2), (.read, 14), (.peek, 4), (.present, 4), (.await, 4),
        (.invalidate, 2), (.lease, 4), (.release, 4), (.nested, 2), (.values, 1), (.source, 2), (.fails, 2), (.slow, 1),
        (.callsBack, 2), (.begin, 2), (.finish, 2), (.warn, 9), (.reclaim, 7), (.attempt, 3), (.twice, 2),
        (.others, 3), (.limit, 2), (.watch, 6), (.idle, 1), (.background, 2), (.foreground, 2), (.fault, 9), (.heal, 4),
        (.capacity, 2), (.writeBack, 2), (.appear, 2), (.disappear, 2), (.move, 1), (.hooks, 4), (.veto, 1),
        (.prefers, 1), (.save, 3), (.kill, 1), (.restore, 2), (.audit, 4),
    ].flatMap { Array(repeating: $0.0, count: $0.1) }

    private static func step(_ random: inout SeededGenerator) -> SeedStep {
        let verb = urn[Int.random(in: 0..<urn.count, using: &random)]
        return SeedStep(
            verb,
            Int.random(in: 0..<64, using: &random),
            Int.random(in: 0..<1000, using: &random),
            Int.random(in: 0..<64, using: &random)
        )
    }
}
