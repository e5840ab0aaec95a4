#if Redis
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// Who is let in, who is not, and that nobody reads a secret in a message.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteAccessTests {
    private static let password = "correct-horse-battery"

    /// What the article says a user needs.
    static let permissions = [
        "~pk:*", "+multi", "+exec", "+setrange", "+getrange", "+pexpire", "+unlink", "+info", "+time", "+hset",
        "+hsetnx",
        "+zadd", "+zrem", "+zremrangebyscore", "+zrevrange", "+pexpireat",
    ]

    private func addUser(to server: TestServer, _ permissions: [String] = permissions) throws {
        let connection = try server.connect()
        let words = ["ACL", "SETUSER", "spill", "reset", "on", ">\(Self.password)"] + permissions
        #expect(try connection.ask(words).text == "OK")
    }

    @Test func whatTheArticleSaysIsEnough() async throws {
        let server = try TestServer()
        try addUser(to: server)
        do {
            let fixture = try RemoteFixture(server.remote(user: "spill", password: Self.password))
            await fixture.evict()
            #expect(fixture.isSpilled)
            #expect(try server.denials() == 0)
            await fixture.expectAll()
        }
        TestServer.waitUntil { server.keyNames.isEmpty }
        #expect(try server.denials() == 0)
    }

    /// Neither INFO nor CONFIG: nobody can tell whether the server evicts.
    @Test func aServerThatDoesNotTellIsOneThatMayEvict() async throws {
        let server = try TestServer()
        try addUser(to: server, Self.permissions.filter { $0 != "+info" })
        let fixture = try RemoteFixture(server.remote(user: "spill", password: Self.password))
        await fixture.evict()
        #expect(fixture.isKept && fixture.made.residency == .spilled)
        try addUser(to: server, Self.permissions.filter { $0 != "+info" } + ["+config|get"])
        let other = try RemoteFixture(server.remote(user: "spill", password: Self.password))
        await other.evict()
        #expect(other.isSpilled)
    }

    @Test func whoIsNotLetInIsToldAtOnce() throws {
        let server = try TestServer()
        try addUser(to: server)
        for (user, password) in [("spill", "wrong-\(Self.password)"), ("nobody", Self.password)] {
            let error = #expect(throws: PressureError.self) {
                try RemoteFixture(server.remote(user: user, password: password))
            }
            #expect(error?.code == .serverUnusable && error?.message.contains("user and password") == true)
            #expect(error?.message.contains(server.socket) == true && "\(error!)".contains(Self.password) == false)
        }
        // Who may not write is told too.
        try addUser(to: server, Self.permissions.filter { $0 != "+setrange" })
        let error = #expect(throws: PressureError.self) {
            try RemoteFixture(server.remote(user: "spill", password: Self.password))
        }
        #expect(error?.message.contains("ACL") == true, "\(String(describing: error))")
        #expect(try server.denials() > 0, "so they would be seen")
    }

    @Test func aPasswordThatIsChangedLetsNobodyIn() async throws {
        let server = try TestServer()
        try addUser(to: server)
        let fixture = try RemoteFixture(server.remote(user: "spill", password: Self.password))
        server.run("ACL", "SETUSER", "spill", "resetpass", ">another")
        server.run("CLIENT", "KILL", "USER", "spill")
        let report = await fixture.evict()
        #expect(fixture.isKept)
        #expect(report.failures.contains { $0.message.contains("user and password") })
        #expect(!report.failures.contains { "\($0)".contains(Self.password) })
        try addUser(to: server)
        fixture.wait()
        await fixture.evict()
        #expect(fixture.isSpilled)
        await fixture.expectAll()
    }

    @Test func aNameThatResolvesToNothingIsToldAtOnce() throws {
        let error = #expect(throws: PressureError.self) {
            try makeManager { $0.remote = .redis(host: "redis.invalid", port: 6379, password: Self.password) }
        }
        #expect(error?.code == .serverUnusable)
        #expect(error?.message.contains("redis.invalid:6379 has a name that resolves to nothing") == true)
        #expect(error.map { "\($0)".contains(Self.password) } == false)
    }

    @Test func whatIsPrintedHasNoSecret() {
        var configuration = PressureConfiguration()
        configuration.remote = .redis(host: "cache", user: "spill", password: Self.password)
        var text = "\(configuration) \(String(reflecting: configuration)) \(configuration.remote!)"
        dump(configuration, to: &text)
        #expect(text.contains("Redis at cache:6379") && !text.contains(Self.password))
    }

    #if Encryption
    /// The server has nothing that can be read.
    @Test(arguments: [true, false]) func whatIsOnTheServerIsSealed(isSealed: Bool) async throws {
        let server = try TestServer()
        let secret = Array("the account of Ada Lovelace holds 1815 pounds; ".utf8)
        let manager = try makeManager {
            $0.remote = server.remote()
            $0.encryptsSpills = isSealed
            $0.compression = .stored
        }
        let controller = try addController("bank", to: manager.root)
        let large = try controller.cache("large", initialValue: Array(repeating: secret, count: 10_000).flatMap { $0 })
        let small = try controller.cache("small", initialValue: secret)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(large.residency == .spilled && small.residency == .spilled)
        // Without a cipher the sentence is there: so it would be found.
        let found = try server.segments.contains { try server.contents(of: $0).firstRange(of: secret) != nil }
        #expect(found == !isSealed)
        #expect(try await small.value() == secret)
    }
    #endif
}
#endif
