#if Redis
extension RedisServer {
    /// Where a server listens.
    package enum Endpoint: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unix(path: String)

        /// The port where none is named.
        package static let port = 6379

        package var isUnix: Bool { if case .unix = self { true } else { false } }

        /// The name or address that a certificate has; `nil` for a socket of this machine's.
        var host: String? { if case .tcp(let host, _) = self { host } else { nil } }

        /// Reads `host`, `host:port`, `[address]:port`, or the path of a Unix socket; `nil` for what is none of them.
        package init?(_ text: String) {
            if text.hasPrefix("/") {
                self = .unix(path: text)
                return
            }
            var host = text[...]
            var port = Self.port
            // Without brackets an address of version 6 is all host.
            if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]"),
                text.hasPrefix("[") || text.firstIndex(of: ":") == colon
            {
                guard let number = Int(text[text.index(after: colon)...]) else { return nil }
                (host, port) = (text[..<colon], number)
            }
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            guard !host.isEmpty, 1...65_535 ~= port else { return nil }
            self = .tcp(host: String(host), port: port)
        }

        /// Reads where a node of a cluster says that keys are, `MOVED 3999 10.0.0.2:6379`: the port follows the last colon,
        /// and no host, or `?`, is the host that was asked.
        init?(moved answer: String) {
            let words = answer.split(separator: " ")
            guard words.count == 3, words[0] == "MOVED", let colon = words[2].lastIndex(of: ":"),
                let port = Int(words[2][words[2].index(after: colon)...]), 1...65_535 ~= port
            else { return nil }
            let host = words[2][..<colon]
            self = .tcp(host: host == "?" ? "" : String(host), port: port)
        }

        /// The same, seen from where it was said.
        func seen(from other: Endpoint) -> Endpoint {
            guard case .tcp("", let port) = self, case .tcp(let host, _) = other else { return self }
            return .tcp(host: host, port: port)
        }
    }
}

extension RedisServer.Endpoint: CustomStringConvertible {
    /// As it is written in a configuration.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }
}
#endif
