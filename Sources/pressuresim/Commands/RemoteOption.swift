#if Redis
import ArgumentParser
import Foundation
import PressureKit
import SpillStore

/// Where a Redis or Valkey server is, as commands are told. A password is never an argument: everybody could read it.
struct RemoteAddress: Hashable, ExpressibleByArgument {
    /// The variable that redis-cli reads too.
    static let passwordVariable = "REDISCLI_AUTH"

    var host: String
    /// `nil` for a socket, whose path `host` is then.
    var port: Int?

    /// `host`, `host:port`, `[address]:port`, or the path of a Unix socket.
    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        if argument.hasPrefix("/") {
            self.init(host: argument, port: nil)
            return
        }
        var host = argument[...]
        var port = 6379
        if let colon = argument.lastIndex(of: ":"), !argument[colon...].contains("]"),
            argument.hasPrefix("[") || argument.firstIndex(of: ":") == colon
        {
            guard let number = Int(argument[argument.index(after: colon)...]), 1...65_535 ~= number else { return nil }
            (host, port) = (argument[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: port)
    }

    init(host: String, port: Int?) {
        self.host = host
        self.port = port
    }

    /// As it is written in an argument.
    var argument: String { port.map { host.contains(":") ? "[\(host)]:\($0)" : "\(host):\($0)" } ?? host }

    /// The server, with the password that the environment has.
    func remote(user: String? = nil) -> RemoteSpill {
        let password = ProcessInfo.processInfo.environment[Self.passwordVariable]
        guard let port else { return .redis(socketPath: host, user: user, password: password) }
        return .redis(host: host, port: port, user: user, password: password)
    }
}
#endif
