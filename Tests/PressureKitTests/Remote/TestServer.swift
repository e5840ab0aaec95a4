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
    private let options: [String]
    private var process: Process?

    /// Starts a server that keeps nothing on disk.
    ///
    /// - Parameter options: what it is started with besides.
    init(_ options: String...) throws {
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
            ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", directory] + options
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
        RedisServer(endpoint: .unix(path: socket), connectTimeout: .seconds(10), commandTimeout: .seconds(10))
    }

    // MARK: Asking

    /// What it answers to a request, errors too; lists joined by newlines. `nil` when it does not.
    @discardableResult
    func run(_ words: String..., as user: (String, String)? = nil) -> String? {
        var server = server
        server.user = user?.0
        server.password = user?.1
        do throws(RedisFailure) {
            let connection = try RedisConnection(to: server)
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
        try #require(try RedisConnection(to: server).ask(["ACL", "LOG", "100"]).list).count
    }

    /// The bytes of a key.
    func contents(of key: String) throws -> [UInt8] {
        let length = try #require(run("STRLEN", key).flatMap { Int($0) })
        let connection = try RedisConnection(to: server)
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

    /// Waits until something is so, however long that takes: the suite's time limit ends it.
    static func waitUntil(_ condition: () -> Bool) { while !condition() { usleep(2000) } }
}
#endif
