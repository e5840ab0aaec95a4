#if Redis
import Foundation
import Glibc
import PressureSystem
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

/// A real Redis or Valkey server of a test's own, on a Unix socket in a directory of its own. Ends with this.
final class TestServer: @unchecked Sendable {
    // Sendable: a test starts and ends it in turn.
    private static let program = ["/usr/bin/redis-server", "/usr/bin/valkey-server", "/usr/local/bin/redis-server"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether there is one to be started.
    static var isInstalled: Bool { program != nil }

    let directory: String
    let socket: String
    /// Where other servers find it; 0 for nowhere.
    let port: Int
    /// The same for those who speak TLS; its options say so.
    let tlsPort: Int
    private let options: [String]
    private var process: Process?

    /// Starts a server that keeps nothing on disk.
    ///
    /// - Parameters:
    ///   - options: what it is started with besides.
    ///   - port: where it listens besides on this machine; 0 for nowhere.
    convenience init(_ options: String..., port: Int = 0) throws { try self.init(options, port: port) }

    init(_ options: [String], port: Int, tlsPort: Int = 0) throws {
        self.port = port
        self.tlsPort = tlsPort
        directory = "/tmp/pk-redis-\(String(UInt32.random(in: 0..<(.max)), radix: 36))"
        socket = directory + "/s"
        self.options = options
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts it, anew and empty if it was killed, and waits until it answers.
    func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.program))
        process.arguments =
            [
                "--port", "\(port)", "--bind", "127.0.0.1", "--unixsocket", socket, "--save", "", "--appendonly", "no",
                "--dir",
                directory, "--repl-diskless-sync-delay", "0",
            ] + options
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        while process.isRunning {
            // A server that asks for a password has answered too.
            if let pong = run("PING"), pong.contains("PONG") || pong.contains("NOAUTH") { return }
            usleep(5000)
        }
        throw PressureError(code: .serverUnusable, message: "The server of the test has ended at once.")
    }

    /// SIGKILL, and waits until it has ended.
    func kill() {
        guard let process else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
        unsafe _ = Glibc.unlink(socket)
    }

    /// Stops it as it is: it takes connections still, and answers nothing.
    func stop() { if let process { Glibc.kill(process.processIdentifier, SIGSTOP) } }

    /// Lets it go on.
    func resume() { if let process { Glibc.kill(process.processIdentifier, SIGCONT) } }

    /// What it is called in a configuration, in place of a disk.
    func remote(user: String? = nil, password: String? = nil) -> RemoteSpill {
        var remote = RemoteSpill.redis(socketPath: socket, user: user, password: password)
        remote.replacesDisk = true
        return remote
    }

    /// The same for the store.
    var server: RedisServer {
        RedisServer(endpoints: [.unix(path: socket)], connectTimeout: .seconds(10), commandTimeout: .seconds(10))
    }

    // MARK: Asking

    /// A connection to it; closed with its last reference.
    func connect(as user: (String, String)? = nil) throws(RedisFailure) -> RedisConnection {
        var server = server
        server.user = user?.0
        server.password = user?.1
        return try RedisConnection(to: server.endpoints[0], of: server, until: SystemClock().now() + .seconds(60))
    }

    /// What it answers to a request, errors too; lists joined by newlines. `nil` when it does not.
    @discardableResult
    func run(_ words: String..., as user: (String, String)? = nil) -> String? {
        do throws(RedisFailure) {
            let connection = try connect(as: user)
            try connection.append(words)
            var text: String?
            try connection.exchange { _, answer in
                text = answer.text ?? answer.integer.map(String.init) ?? answer.list?.joined(separator: "\n")
            }
            return text
        } catch {
            return error.errno == .permissionDenied ? "NOAUTH" : nil
        }
    }

    /// The names of all keys.
    var keyNames: [String] { run("KEYS", "*")?.split(separator: "\n").map(String.init) ?? [] }

    /// The names of keys that hold values.
    var segments: [String] { keyNames.filter { RedisKeys.parse($0, prefix: "pk")?.isSegment == true } }

    /// How much its access control has refused.
    func denials() throws -> Int {
        try #require(try connect().ask(["ACL", "LOG", "100"]).list).count
    }

    /// The bytes of a key.
    func contents(of key: String) throws -> [UInt8] {
        let length = try #require(run("STRLEN", key).flatMap { Int($0) })
        let connection = try connect()
        try connection.append(["GETRANGE", key, "0", "-1"])
        var bytes = [UInt8](repeating: 0, count: length)
        // As long as the array.
        try unsafe bytes.withUnsafeMutableBytes { buffer in
            let buffer = unsafe buffer
            try connection.exchange { _, answer throws(RedisFailure) in
                guard try unsafe answer.copyBytes(to: buffer) else { throw .nonsense }
            }
        }
        return bytes
    }

    // MARK: Several

    /// A port of this machine's that nobody listens on, nor on the one that is its cluster's, 10,000 further.
    static func freePort() -> Int {
        while true {
            // Below those that the system gives out for connections.
            let number = Int.random(in: 20_000..<22_700)
            if isFree(number), isFree(number + 10_000) { return number }
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        // Zeros are any address.
        return unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == 0
    }

    /// A server and one that has what it has.
    static func pair(replica options: String...) throws -> (primary: TestServer, replica: TestServer) {
        let primary = try TestServer(port: freePort())
        let replica = try TestServer(options, port: freePort())
        replica.follow(primary)
        // It is sent writes from its first acknowledgement on, which it gives once a second.
        let connection = try primary.connect()
        for words in [["SET", "ready", ""], ["DEL", "ready"]] { _ = try connection.ask(words) }
        #expect(try connection.ask(["WAIT", "1", "30000"]).integer == 1)
        return (primary, replica)
    }

    /// Is another's replica from now on; waits until it is one.
    func follow(_ primary: TestServer) {
        run("REPLICAOF", "127.0.0.1", "\(primary.port)")
        Self.waitUntil { info("replication", "master_link_status") == "up" }
        waitUntilReplicated(from: primary)
    }

    /// Takes over.
    func promote() { run("REPLICAOF", "NO", "ONE") }

    /// Waits until it has what the primary has now.
    func waitUntilReplicated(from primary: TestServer) {
        let wanted = primary.info("replication", "master_repl_offset").flatMap { Int($0) } ?? 0
        Self.waitUntil { info("replication", "slave_repl_offset").flatMap { Int($0) } ?? -1 >= wanted }
    }

    func info(_ section: String, _ name: String) -> String? {
        run("INFO", section).flatMap { RedisInfo.value(of: name, in: $0) }.map(String.init)
    }

    /// Waits until something is so, however long that takes: the suite's time limit ends it.
    static func waitUntil(_ condition: () -> Bool) { while !condition() { usleep(2000) } }
}
#endif
