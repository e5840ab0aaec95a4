import ScenarioLanguage

extension RunRecord {
    /// What became of the scenario's expectations. None is held against a run that was interrupted.
    func outcomes(_ figures: Figures) -> [Expectation.Outcome] {
        scenario.expectations.map { expectation in
            let values =
                switch expectation.part {
                case .all: figures.values
                case .phase, .caches: figures.parts[expectation.part] ?? [:]
                }
            let outcome = expectation.evaluate(values, unmeasured: figures.unmeasured)
            return isInterrupted ? outcome.notJudged("interrupted") : outcome
        }
    }
}
