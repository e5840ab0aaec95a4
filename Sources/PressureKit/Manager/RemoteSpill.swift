#if Redis
import PressureSystem
package import SpillStore

/// A server that values are spilled to, behind the disk or in its place: Redis 6.2 or later, or Valkey.
///
/// Behind a disk it takes what the disk has no room for. A reclaim writes to the disk, and waits for no network: copies move to
/// the server in idle time, those of values that have not been used for a while, once three quarters of what the spill file may
/// take are taken. Only while the disk is full or fails, and there is no room in the compressed tier, does a reclaim write to
/// the server itself.
///
/// Where there is no disk the server takes all: in a container with a read-only root and an `emptyDir` in memory, a spill file
/// frees nothing. Values go there as they would go to the file, compressed, checked and, with the package trait `Encryption`,
/// sealed before a byte leaves the process.
///
/// ```swift
/// var configuration = PressureConfiguration()
/// configuration.remote = .redis(host: "cache.internal", user: "thumbnails", password: password)
/// let manager = try PressureManager(configuration: configuration)
/// ```
///
/// A value that nobody can make again is sent only to a server that may not evict (`maxmemory-policy noeviction`, which is
/// asked when connecting and with each renewal of the lease), and leaves memory only after it was acknowledged, read back and
/// compared. What the server loses all the same, by a restart or a fault longer than the lease, is found when it is read: the
/// loader makes it again, or the reader gets a ``PressureError`` that names cache and server.
///
/// Only with the package trait `Redis`. <doc:BeyondOneMachine> says when it is worth it.
public struct RemoteSpill: Sendable {
    package var options: RedisSpaceOptions
    /// Addresses that are none.
    private var unreadable: [String] = []

    /// Whether the server takes the place of the disk, and no directory is looked for. The default is that it does only where no
    /// directory can be used.
    public var replacesDisk = false

    /// The most bytes that copies may take on the server; at the limit they stay where they are. `nil`, the default, for no limit
    /// but the server's own.
    public var limit: ByteCount?

    /// How the connection is encrypted, and by what the server is known. The default is `nil`: not at all, and whoever is in
    /// between reads the password.
    public var tls: RemoteTLS? {
        get { options.server.tls }
        set { options.server.tls = newValue }
    }

    /// How long a connection may take to be there, its name to be resolved aside. The default is a second.
    public var connectTimeout: Duration {
        get { options.server.connectTimeout }
        set { options.server.connectTimeout = newValue }
    }

    /// How long the server may take to answer a request, of at most some hundred kilobytes. The default is two seconds. A
    /// value that is not answered for in time stays in memory, and a read fails.
    public var commandTimeout: Duration {
        get { options.server.commandTimeout }
        set { options.server.commandTimeout = newValue }
    }

    /// The most connections at a time, to all addresses together; they are made when they are needed. The default is 4. In place
    /// of a disk, as many threads write in a reclaim: the further away the server, the more it gains.
    public var connections: Int {
        get { options.server.connections }
        set { options.server.connections = newValue }
    }

    /// How many replicas must have acknowledged a value that nobody can make again before it leaves memory, and a saved state
    /// before it counts as saved. The default is 0: the server has it, and a replica that takes over may not. With 1 the primary
    /// may be lost. Each such write takes a round trip more, in which the server waits for its replicas (`WAIT`); where they do not
    /// follow in half of ``commandTimeout``, the value stays in memory. Values with loaders wait for nobody.
    public var requiredReplicas: Int {
        get { options.requiredReplicas }
        set { options.requiredReplicas = newValue }
    }

    /// How long what was spilled stays on the server after the process's last sign of life, which it gives three times in that
    /// time. Shorter, and a process that is killed leaves less behind; longer, and values survive a longer fault of the
    /// network. The default is a minute.
    public var lease: Duration {
        get { options.lease }
        set { options.lease = newValue }
    }

    /// What the names of all keys begin with, for a server that others use too. The default is `pk`: a user whose ACL has
    /// `~pk:*` may use them.
    public var keyPrefix: String {
        get { options.keyPrefix }
        set { options.keyPrefix = newValue }
    }

    /// A Redis or Valkey server that listens on the network, or a node of a Redis Cluster. Does not connect: the manager does when
    /// it is made.
    ///
    /// - Parameters:
    ///   - host: its name or address.
    ///   - port: its TCP port.
    ///   - user: whom its access control list knows; `nil` for the default user.
    ///   - password: the user's; never part of a message. `nil` where none is asked for.
    public static func redis(
        host: String,
        port: Int = 6379,
        user: String? = nil,
        password: String? = nil
    ) -> RemoteSpill {
        RemoteSpill(.tcp(host: host, port: port), user, password)
    }

    /// A Redis or Valkey server that listens on a Unix socket of this machine, or a proxy that leads to one.
    ///
    /// - Parameters:
    ///   - socketPath: the path of the socket.
    ///   - user: whom its access control list knows; `nil` for the default user.
    ///   - password: the user's; never part of a message. `nil` where none is asked for.
    public static func redis(
        socketPath: String,
        user: String? = nil,
        password: String? = nil
    ) -> RemoteSpill {
        RemoteSpill(.unix(path: socketPath), user, password)
    }

    /// A primary and its replicas, of which another may become the primary; or nodes of a Redis Cluster, which name the others.
    /// Does not connect: the manager does when it is made.
    ///
    /// Where one of them is lost, or says that it is a replica now, the others are asked, the last known primary first: all of
    /// that takes no longer than `connectTimeout` and `commandTimeout` together. Which one is the primary, each says itself
    /// (`INFO replication`); without permission to ask, a write shows it. <doc:BeyondOneMachine> says what is kept when another
    /// takes over.
    ///
    /// User, password and TLS are the same for all of them, and for those that they name.
    ///
    /// ```swift
    /// configuration.remote = .redis(addresses: ["redis-0:6379", "redis-1:6379"], user: "thumbnails", password: password)
    /// ```
    ///
    /// - Parameters:
    ///   - addresses: each is `host`, `host:port`, `[address]:port` or the path of a Unix socket; the port is 6379 where none is
    ///     named. One that is none of them is an error of the manager's (`invalidConfiguration`).
    ///   - user: whom their access control lists know; `nil` for the default user.
    ///   - password: the user's; never part of a message. `nil` where none is asked for.
    public static func redis(
        addresses: [String],
        user: String? = nil,
        password: String? = nil
    ) -> RemoteSpill {
        let endpoints = addresses.map { ($0, RedisServer.Endpoint($0)) }
        let server = RedisServer(endpoints: endpoints.compactMap(\.1), user: user, password: password)
        return RemoteSpill(
            options: RedisSpaceOptions(server: server),
            unreadable: endpoints.filter { $0.1 == nil }.map(\.0)
        )
    }

    private init(_ endpoint: RedisServer.Endpoint, _ user: String?, _ password: String?) {
        let server = RedisServer(endpoints: [endpoint], user: user, password: password)
        self.init(options: RedisSpaceOptions(server: server))
    }

    private init(options: RedisSpaceOptions, unreadable: [String] = []) {
        self.options = options
        self.unreadable = unreadable
    }

    /// - Throws: ``PressureError`` with `invalidConfiguration` that names the value and what is allowed.
    package func validate() throws(PressureError) {
        func check(_ holds: Bool, _ message: @autoclosure () -> String) throws(PressureError) {
            guard holds else { throw PressureError(code: .invalidConfiguration, message: message()) }
        }
        try check(
            unreadable.isEmpty,
            "remote.redis has the address \"\(unreadable[0])\"; it must be host, host:port, [address]:port or the path of a socket."
        )
        try check(!options.server.endpoints.isEmpty, "remote.redis has no address; it needs at least one.")
        for endpoint in options.server.endpoints {
            switch endpoint {
            case .tcp(let host, let port):
                try check(
                    !host.isEmpty && !host.utf8.contains(0),
                    "remote.redis has no host; it needs a name or an address."
                )
                try check(1...65_535 ~= port, "remote.redis has the port \(port); it must be between 1 and 65535.")
            case .unix(let path):
                // sockaddr_un has room for so many, and the zero behind them.
                try check(
                    1...107 ~= path.utf8.count && !path.utf8.contains(0),
                    "remote.redis has a socket path of \(path.utf8.count) bytes; it must have 1 to 107."
                )
            }
        }
        try tls?.validate()
        let hasName = tls?.serverName != nil || !options.server.endpoints.contains(where: \.isUnix)
        try check(tls == nil || hasName, "remote.tls needs a serverName for a Unix socket, which has none.")
        try check(
            options.server.user == nil || options.server.password != nil,
            "remote.redis has a user and no password."
        )
        try check(
            connectTimeout > .zero && commandTimeout > .zero,
            "remote has a timeout of \(min(connectTimeout, commandTimeout)); it must be more than zero."
        )
        try check(limit.map { $0 > .zero } ?? true, "remote.limit is \(limit ?? .zero); use nil for no limit.")
        try check(1...64 ~= connections, "remote.connections is \(connections); it must be between 1 and 64.")
        try check(
            0...64 ~= requiredReplicas,
            "remote.requiredReplicas is \(requiredReplicas); it must be between 0 and 64."
        )
        try check(
            lease >= .seconds(1) && lease <= .seconds(86_400),
            "remote.lease is \(lease); it must be between a second and a day."
        )
        try check(
            !keyPrefix.isEmpty && !keyPrefix.utf8.contains { "{}*?[]\\ ".utf8.contains($0) || $0 < 33 },
            "remote.keyPrefix is \"\(keyPrefix)\"; it must not be empty, nor have braces, brackets, *, ?, \\ or spaces."
        )
    }
}

extension RemoteSpill: CustomStringConvertible, CustomReflectable {
    /// Where the server is, without user and password.
    public var description: String { "Redis at \(options.server.name)" }

    /// Nothing: what is printed for debugging ends up in logs.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
