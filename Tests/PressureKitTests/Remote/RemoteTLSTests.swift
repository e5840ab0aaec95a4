#if Redis
import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

/// Encrypted connections to a real server: what goes over them, and which are refused, with what words.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteTLSTests {
    private let certificates: TestCertificates
    private let port = TestServer.freePort()

    init() throws { certificates = try TestCertificates() }

    private func server(showing name: String = "server", asksForCertificate: Bool = false) throws -> TestServer {
        try TestServer(
            certificates.options(port: port, showing: name, asksForCertificate: asksForCertificate),
            port: 0
        )
    }

    private func remote(
        _ tls: RemoteTLS?,
        host: String = "127.0.0.1",
        connectTimeout: Duration = .seconds(10)
    ) -> RemoteSpill {
        var remote = RemoteSpill.redis(host: host, port: port)
        remote.replacesDisk = true
        remote.tls = tls
        remote.commandTimeout = .seconds(10)
        remote.connectTimeout = connectTimeout
        return remote
    }

    /// Why no manager can be made with a server.
    private func refusal(
        of tls: RemoteTLS?,
        host: String = "127.0.0.1",
        within connectTimeout: Duration = .seconds(10)
    ) throws -> PressureError {
        let remote = remote(tls, host: host, connectTimeout: connectTimeout)
        return try #require(throws: PressureError.self) {
            try makeManager {
                $0.spillDirectory = "/nonexistent"
                $0.remote = remote
            }
        }
    }

    // MARK: What goes over it

    @Test func valuesGoAndComeBack() async throws {
        let server = try server()
        let fixture = try RemoteFixture(remote(certificates.tls()))
        for _ in 0..<3 {
            await fixture.evict()
            #expect(fixture.isSpilled)
            await fixture.expectAll()
        }
        #expect(!server.segments.isEmpty)
    }

    /// In one request: more than a record, the buffers of a socket, and what both ends hold.
    @Test func largeRequestsAndAnswers() throws {
        let server = try server()
        let options = remote(certificates.tls()).options.server
        let connection = try RedisConnection(
            to: options.endpoints[0],
            of: options,
            until: SystemClock().now() + .seconds(60)
        )
        let bytes = makeBytes((8 << 20) + 1, seed: 1, randomBits: 8)
        for key in ["a", "b"] { try connection.append(["SET", key], bytes: bytes[...]) }
        try connection.exchange { _, answer throws(RedisFailure) in #expect(answer.text == "OK") }
        for key in ["a", "b"] { try connection.append(["GET", key]) }
        try connection.exchange { _, answer throws(RedisFailure) in
            #expect(try answer.bytes(count: bytes.count) == bytes)
        }
        #expect(connection.isSettled && !connection.isStale)
        withExtendedLifetime(server) {}
    }

    /// Both ends know each other, by certificates.
    @Test func aServerThatAsksForACertificate() async throws {
        let server = try server(asksForCertificate: true)
        let fixture = try RemoteFixture(remote(certificates.tls(showing: "client")))
        await fixture.evict()
        #expect(fixture.isSpilled)
        await fixture.expectAll()
        for client in [nil, "stranger"] {
            let error = try refusal(of: certificates.tls(showing: client))
            #expect(error.code == .serverUnusable)
            #expect(error.message.contains("certificate of this process"), "\(error)")
        }
        withExtendedLifetime(server) {}
    }

    @Test func aStateTravels() async throws {
        let server = try server()
        let state = RemoteState("s", on: remote(certificates.tls()))
        let bytes = makeBytes(3 << 20, seed: 2, randomBits: 8)
        do {
            let manager = try makeManager(fileSystem: InMemoryFileSystem())
            let controller = try addController("app", to: manager.root)
            let cache = try controller.cache("value", initialValue: bytes)
            try await manager.saveState(to: state, version: "1")
            withExtendedLifetime(cache) {}
            await manager.shutdown()
        }
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache: LazyCache<[UInt8]> = try controller.cache("value")
        try await manager.restoreState(from: state, version: "1")
        #expect(try await cache.value() == bytes)
        withExtendedLifetime(server) {}
    }

    /// Nodes that are heard of have the certificate too.
    @Test func aClusterIsEncryptedThroughout() async throws {
        let cluster = try TestCluster(certificates)
        var remote = RemoteSpill.redis(host: "127.0.0.1", port: cluster.nodes[0].tlsPort)
        remote.replacesDisk = true
        remote.tls = certificates.tls(serverName: "redis.test")
        remote.commandTimeout = .seconds(10)
        var holders: Set<Int> = []
        // Each has a tag of its own, and so a node.
        for _ in 0..<6 {
            let fixture = try RemoteFixture(remote)
            await fixture.evict()
            #expect(fixture.isSpilled)
            holders.formUnion(cluster.holders.map(\.tlsPort))
            await fixture.expectAll()
        }
        #expect(!holders.isEmpty)
    }

    // MARK: Whom it leads to

    @Test func onlyACertificateThatIsTrusted() throws {
        let server = try server()
        for roots in [nil, certificates.path("other.crt")] {
            let error = try refusal(of: RemoteTLS(trustRoots: roots))
            #expect(error.code == .serverUnusable)
            #expect(error.message.contains("not trusted") && error.message.contains("tls.trustRoots"), "\(error)")
            #expect(error.message.contains("127.0.0.1:\(port)"))
        }
        withExtendedLifetime(server) {}
    }

    @Test func onlyACertificateForItsName() async throws {
        let server = try server()
        // The certificate has the address, and not this name of it.
        let error = try refusal(of: certificates.tls(), host: "localhost")
        #expect(error.message.contains("another name") && error.message.contains("tls.serverName"), "\(error)")
        #expect(try refusal(of: certificates.tls(serverName: "10.0.0.1")).message.contains("another name"))
        let fixture = try RemoteFixture(remote(certificates.tls(serverName: "redis.test"), host: "localhost"))
        await fixture.evict()
        await fixture.expectAll()
        withExtendedLifetime(server) {}
    }

    @Test func onlyACertificateOfToday() throws {
        let server = try server(showing: "outdated")
        let error = try refusal(of: certificates.tls())
        #expect(error.code == .serverUnusable && error.message.contains("no longer"), "\(error)")
        withExtendedLifetime(server) {}
    }

    /// Neither waits for the other for ever.
    @Test func oneEndThatIsNotEncrypted() throws {
        let encrypted = try server()
        let error = try refusal(of: nil)
        #expect(error.code == .serverUnusable && error.message.contains("closed the connection"), "\(error)")
        encrypted.kill()
        let plain = try TestServer(port: port)
        // Redis takes a handshake for the beginning of a line.
        let other = try refusal(of: certificates.tls(), within: .milliseconds(500))
        #expect(other.code == .serverUnusable && other.message.contains("in time"), "\(other)")
        withExtendedLifetime(plain) {}
    }

    /// They are read with each connection.
    @Test func filesMayBeReplacedWhileItRuns() async throws {
        let server = try server(asksForCertificate: true)
        for kind in ["crt", "key"] {
            try FileManager.default.copyItem(
                atPath: certificates.path("client.\(kind)"),
                toPath: certificates.path("mine.\(kind)")
            )
        }
        let fixture = try RemoteFixture(remote(certificates.tls(showing: "mine")))
        await fixture.evict()
        for kind in ["crt", "key"] {
            let mine = certificates.path("mine.\(kind)")
            try FileManager.default.removeItem(atPath: mine)
            try FileManager.default.copyItem(atPath: certificates.path("stranger.\(kind)"), toPath: mine)
        }
        server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        let error = await #expect(throws: PressureError.self) { try await fixture.mine[0].value() }
        #expect(error?.message.contains("certificate of this process") == true, "\(String(describing: error))")
        for kind in ["crt", "key"] {
            let mine = certificates.path("mine.\(kind)")
            try FileManager.default.removeItem(atPath: mine)
            try FileManager.default.copyItem(atPath: certificates.path("client.\(kind)"), toPath: mine)
        }
        fixture.wait()
        await fixture.expectAll()
    }

    // MARK: What is wrong from the start

    @Test(arguments: [
        (RemoteTLS(trustRoots: "/nonexistent"), "trustRoots"),
        (RemoteTLS(trustRoots: "/dev/null"), "trustRoots"),
        (RemoteTLS(certificateChain: "/nonexistent", privateKey: "/nonexistent"), "certificateChain"),
        (RemoteTLS(certificateChain: "/nonexistent"), "both"),
        (RemoteTLS(privateKey: "/nonexistent"), "both"),
        (RemoteTLS(serverName: ""), "serverName"),
    ]) func whatCannotBeReadIsNamed(_ tls: RemoteTLS, word: String) throws {
        let error = try refusal(of: tls)
        #expect(error.code == .invalidConfiguration && error.message.contains(word), "\(error)")
    }

    @Test func aKeyOfAnotherCertificateIsNamed() throws {
        var tls = certificates.tls(showing: "client")
        tls.privateKey = certificates.path("stranger.key")
        let error = try refusal(of: tls)
        #expect(error.code == .invalidConfiguration && error.message.contains("privateKey"), "\(error)")
    }

    @Test func aSocketHasNoName() throws {
        var remote = RemoteSpill.redis(socketPath: "/tmp/s")
        remote.tls = certificates.tls()
        #expect(try #require(throws: PressureError.self) { try remote.validate() }.message.contains("serverName"))
        remote.tls?.serverName = "redis.test"
        #expect(throws: Never.self) { try remote.validate() }
    }

    // MARK: Faults

    enum Fault: CaseIterable {
        case nonsense, falsified, cut, silent

        var word: String {
            switch self {
            case .nonsense, .falsified: "does not speak TLS"
            case .cut: "closed the connection"
            case .silent: "in time"
            }
        }
    }

    /// What is broken on the way is found, whatever it says; and when the way is well again, so is everything.
    @Test(arguments: Fault.allCases) func whatIsBrokenOnTheWayIsFound(_ fault: Fault) async throws {
        let server = try server()
        let proxy = try BreakingProxy(to: server, port: port)
        defer { proxy.close() }
        var remote = proxy.remote
        remote.tls = certificates.tls(serverName: "redis.test")
        remote.commandTimeout = .seconds(fault == .silent ? 1 : 30)
        let fixture = try RemoteFixture(remote)
        await fixture.evict()
        #expect(fixture.isSpilled)
        switch fault {
        case .nonsense: proxy.set(.answer("HTTP/1.1 400 Bad Request\r\n\r\n"))
        case .falsified: proxy.set(.falsify)
        case .cut: proxy.set(.closeAfter(3))
        case .silent: proxy.set(.silence)
        }
        let largest = try #require(fixture.mine.last)
        let error = await #expect(throws: PressureError.self) { try await largest.value() }
        #expect(error?.message.contains(fault.word) == true, "\(String(describing: error))")
        #expect(proxy.broken > 0)
        proxy.set(.pass)
        fixture.wait()
        await fixture.expectAll()
    }

    /// The connection is cut after each piece in turn, the handshake's among them: nothing is lost, and nothing wrong is read.
    @Test(arguments: [false, true]) func cutAfterEveryPiece(ofAnswers: Bool) async throws {
        let server = try server()
        let proxy = try BreakingProxy(to: server, port: port)
        defer { proxy.close() }
        var remote = proxy.remote
        remote.tls = certificates.tls(serverName: "redis.test")
        let fixture = try RemoteFixture(remote)
        var count = 0
        while true {
            server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            let broken = proxy.broken
            proxy.set(ofAnswers ? .cutAnswers(count) : .cutRequests(count))
            await fixture.evict()
            let isWhole = fixture.isSpilled && proxy.broken == broken
            proxy.set(.pass)
            fixture.wait()
            await fixture.expectAll(loads: fixture.loads.value)
            if isWhole { break }
            count += 1
        }
        #expect(count > 3)
    }
}
#endif
