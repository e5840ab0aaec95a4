#if Redis
/// Where a server is, how it lets us in, and how long it may take.
package struct RedisServer: Sendable {
    /// Where it listens.
    package enum Endpoint: Hashable, Sendable {
        case tcp(host: String, port: Int)
        case unix(path: String)
    }

    package var endpoint: Endpoint
    /// The ACL user; `nil` for the default one.
    package var user: String?
    /// Never in a message.
    package var password: String?
    /// How long a connection may take to be there, and how long a request to be answered.
    package var connectTimeout: Duration
    package var commandTimeout: Duration
    /// Connections at most.
    package var connections: Int

    package init(
        endpoint: Endpoint,
        user: String? = nil,
        password: String? = nil,
        connectTimeout: Duration = .seconds(1),
        commandTimeout: Duration = .seconds(2),
        connections: Int = 4
    ) {
        self.endpoint = endpoint
        self.user = user
        self.password = password
        self.connectTimeout = connectTimeout
        self.commandTimeout = commandTimeout
        self.connections = connections
    }

    /// What a message calls it: where it is, and nothing that is secret.
    package var name: String {
        switch endpoint {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }
}
#endif
