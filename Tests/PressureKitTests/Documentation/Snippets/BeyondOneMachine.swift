#if Redis
import PressureKit

/// What BeyondOneMachine.md quotes.
private func configureRemote(password: String) -> PressureConfiguration {
    var configuration = PressureConfiguration()
    configuration.remote = .redis(host: "redis", user: "thumbnails", password: password)
    configuration.spillLimit = .gibibytes(2)
    return configuration
}

private func configurePrimaryThatMoves(_ configuration: inout PressureConfiguration, password: String) {
    configuration.remote = .redis(addresses: ["redis-0:6379", "redis-1:6379"], user: "thumbnails", password: password)
}

private func configureTLS(_ configuration: inout PressureConfiguration, password: String) {
    configuration.remote = .redis(host: "redis.example.com", port: 6380, user: "thumbnails", password: password)
    configuration.remote?.tls = RemoteTLS(trustRoots: "/etc/redis/ca.crt")
}

private func travel(_ manager: PressureManager, password: String) async throws {
    let state = RemoteState("thumbnails", on: .redis(host: "redis", user: "thumbnails", password: password))
    try await manager.restoreState(from: state, version: "2")
    // … the app at work …
    try await manager.saveState(to: state, version: "2")
}
#endif
