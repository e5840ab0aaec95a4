#if Redis
import PressureKit

/// What BeyondOneMachine.md quotes.
private func configureRemote(password: String) -> PressureConfiguration {
    var configuration = PressureConfiguration()
    configuration.remote = .redis(host: "redis", user: "thumbnails", password: password)
    configuration.spillLimit = .gibibytes(2)
    return configuration
}
#endif
