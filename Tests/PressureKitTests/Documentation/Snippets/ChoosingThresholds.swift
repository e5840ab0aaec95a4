import PressureKit

/// What ChoosingThresholds.md quotes.
private func chooseThresholds() throws {
    var configuration = PressureConfiguration()
    configuration.thresholds.warning = .init(enter: 0.35, leave: 0.45)
    configuration.thresholds.critical = .init(enter: 0.20, leave: 0.30)
    let manager = try PressureManager(configuration: configuration)
    _ = manager

    configuration.sources = [.automatic, .footprint(limit: .gibibytes(2))]

    configuration.sources = [.memoryInfo, .cgroups]

    let simulated = SimulatedSource()
    configuration.sources = [.simulated(simulated)]
    simulated.set(available: .mebibytes(60), of: .mebibytes(256))
}
