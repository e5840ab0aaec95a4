import PressureKit

/// What Containers.md quotes.
private func configureContainer() -> PressureConfiguration {
    var configuration = PressureConfiguration()
    configuration.spillDirectory = "/spill"
    configuration.spillLimit = .gibibytes(2)
    configuration.freeSpaceFloor = .mebibytes(512)
    return configuration
}
