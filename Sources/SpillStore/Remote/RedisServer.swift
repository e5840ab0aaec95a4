#if Redis
/// Where a server is, how it lets us in, and how long it may take.
package struct RedisServer: Sendable {
    /// One server; or a primary and its replicas, or nodes of a cluster, at least one of which leads to the right one.
    package var endpoints: [Endpoint]
    /// The ACL user; `nil` for the default one.
    package var user: String?
    /// Never in a message.
    package var password: String?
    /// How the connection is encrypted; `nil` for not at all.
    package var tls: RemoteTLS?
    /// How long a connection may take to be there, and how long a request to be answered.
    package var connectTimeout: Duration
    package var commandTimeout: Duration
    /// Connections at most, to all of them together.
    package var connections: Int

    package init(
        endpoints: [Endpoint],
        user: String? = nil,
        password: String? = nil,
        tls: RemoteTLS? = nil,
        connectTimeout: Duration = .seconds(1),
        commandTimeout: Duration = .seconds(2),
        connections: Int = 4
    ) {
        self.endpoints = endpoints
        self.user = user
        self.password = password
        self.tls = tls
        self.connectTimeout = connectTimeout
        self.commandTimeout = commandTimeout
        self.connections = connections
    }

    /// Whether the primary is looked for: of one address it is not asked whether it is one.
    var isSeveral: Bool { endpoints.count > 1 }

    /// What a message calls it: where it is, and nothing that is secret.
    package var name: String { endpoints.map(\.description).joined(separator: ", ") }
}
#endif
