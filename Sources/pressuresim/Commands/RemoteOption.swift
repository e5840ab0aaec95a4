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

    private let isEncrypted: Bool
    /// As redis-cli spells it.
    private static let encrypted = "rediss://"

    /// `host`, `host:port`, `[address]:port` or the path of a Unix socket; several with commas. After `rediss://`, TLS is spoken.
    init?(argument: String) {
        self.argument = argument
        isEncrypted = argument.hasPrefix(Self.encrypted)
        let list = isEncrypted ? argument.dropFirst(Self.encrypted.count) : argument[...]
        addresses = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard addresses.allSatisfy({ RedisServer.Endpoint($0) != nil }) else { return nil }
    }

    /// The server, with the password that the environment has.
    ///
    /// - Parameter tls: how the connection is encrypted, if there is more to say than that it is.
    func remote(user: String? = nil, tls: RemoteTLS? = nil) -> RemoteSpill {
        let password = ProcessInfo.processInfo.environment[Self.passwordVariable]
        var remote = RemoteSpill.redis(addresses: addresses, user: user, password: password)
        remote.tls = tls ?? (isEncrypted ? RemoteTLS() : nil)
        return remote
    }
}
#endif
