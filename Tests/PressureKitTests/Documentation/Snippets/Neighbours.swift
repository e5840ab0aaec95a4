import PressureKit

private func share() -> PressureConfiguration {
    var configuration = PressureConfiguration()
    configuration.share = MemoryShare(weight: 2, floor: .mebibytes(64))
    return configuration
}
