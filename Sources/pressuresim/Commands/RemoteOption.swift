#if Redis
import ArgumentParser
import Foundation
import PressureKit
import SpillStore

/// Where a Redis or Valkey server is, or several that belong together, as commands are told. A password is never an argument:
/// everybody could read it.
struct RemoteAddress: Hashable, ExpressibleByArgument {
    /// The variable that redis-cli reads too.
    static let passwordVariable = "REDISCLI_AUTH"

    /// As it was written.
    let argument: String
    private let addresses: [String]

    /// `host`, `host:port`, `[address]:port` or the path of a Unix socket; several with commas.
    init?(argument: String) {
        self.argument = argument
        addresses = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard addresses.allSatisfy({ RedisServer.Endpoint($0) != nil }) else { return nil }
    }

    /// The server, with the password that the environment has.
    func remote(user: String? = nil) -> RemoteSpill {
        .redis(addresses: addresses, user: user, password: ProcessInfo.processInfo.environment[Self.passwordVariable])
    }
}
#endif
