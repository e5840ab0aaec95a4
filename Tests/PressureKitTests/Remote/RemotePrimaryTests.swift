#if Redis
import Foundation
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

/// Several addresses, and a primary that moves from one to another.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemotePrimaryTests {
    static func remote(_ servers: TestServer..., user: String? = nil, password: String? = nil) -> RemoteSpill {
        var remote = RemoteSpill.redis(addresses: servers.map(\.socket), user: user, password: password)
        remote.replacesDisk = true
        remote.commandTimeout = .seconds(10)
        return remote
    }

    /// New values, which are evicted, and what they are.
    private func spillMore(_ fixture: RemoteFixture, seed: UInt64 = 7) async throws {
        let bytes = makeBytes(50_000, seed: seed, randomBits: 8)
        let cache = try fixture.controller.cache("new\(seed)", initialValue: bytes)
        await fixture.evict()
        #expect(cache.residency == .spilled)
        #expect(try await cache.value() == bytes)
    }

    private func refusals(_ server: TestServer) -> String? { server.info("errorstats", "errorstat_READONLY") }

    @Test func whatAReplicaHasIsReadWhenItTakesOver() async throws {
        let (primary, replica) = try TestServer.pair()
        do {
            var remote = Self.remote(primary, replica)
            remote.lease = .seconds(5)
            let fixture = try RemoteFixture(remote)
            await fixture.evict()
            #expect(fixture.isSpilled && !primary.segments.isEmpty)
            replica.waitUntilReplicated(from: primary)
            primary.kill()
            replica.promote()
            await fixture.expectAll()
            try await spillMore(fixture)
            // And its lease is renewed there.
            let key = try #require(replica.segments.first)
            TestServer.waitUntil { replica.run("PTTL", key).flatMap { Int($0) } ?? 0 < 4000 }
            TestServer.waitUntil { replica.run("PTTL", key).flatMap { Int($0) } ?? 0 > 4000 }
            #expect(try RedisReaper(remote.options.server).list().map(\.state) == [.held])
        }
        TestServer.waitUntil { replica.keyNames.isEmpty }
    }

    @Test func whatAReplicaLacksIsMissed() async throws {
        let (primary, replica) = try TestServer.pair()
        let fixture = try RemoteFixture(Self.remote(primary, replica))
        // It has taken over before it heard of any value.
        replica.promote()
        await fixture.evict()
        #expect(fixture.isSpilled)
        primary.kill()
        for cache in fixture.mine {
            let error = await #expect(throws: PressureError.self) { try await cache.value() }
            #expect(error?.code == .damagedCopy && error?.message.contains(replica.socket) == true)
        }
        #expect(try await fixture.made.value() == RemoteFixture.bytes(70_000))
        #expect(fixture.loads.value == 2)
        try await spillMore(fixture)
    }

    @Test func aReplicaThatIsNamedFirstIsPassedOver() async throws {
        let (primary, replica) = try TestServer.pair()
        let fixture = try RemoteFixture(Self.remote(replica, primary))
        await fixture.evict()
        #expect(fixture.isSpilled)
        await fixture.expectAll()
        #expect(refusals(replica) == nil, "nobody has tried to write there")
        // Nor need the primary be named: a replica names it.
        let other = try TestServer(port: TestServer.freePort())
        other.follow(primary)
        let found = try RemoteFixture(Self.remote(replica, other))
        await found.evict()
        #expect(found.isSpilled)
        await found.expectAll()
    }

    /// Without `INFO` it is not known who the primary is, until one is written to.
    @Test func whoMayNotAskFindsThePrimaryByWriting() async throws {
        let (primary, replica) = try TestServer.pair()
        let permissions = RemoteAccessTests.permissions.filter { $0 != "+info" } + ["+config|get"]
        for server in [primary, replica] {
            let words = ["ACL", "SETUSER", "spill", "on", ">secret"] + permissions
            #expect(try server.connect().ask(words).text == "OK")
        }
        let fixture = try RemoteFixture(Self.remote(replica, primary, user: "spill", password: "secret"))
        await fixture.evict()
        #expect(fixture.isSpilled && refusals(replica) != nil)
        await fixture.expectAll()
    }

    /// Connections that are idle lead to a replica all at once.
    @Test func aPrimaryThatIsDemotedIsLeft() async throws {
        let (primary, replica) = try TestServer.pair()
        let fixture = try RemoteFixture(Self.remote(primary, replica))
        await fixture.evict()
        #expect(fixture.isSpilled)
        replica.waitUntilReplicated(from: primary)
        replica.promote()
        primary.follow(replica)
        TestServer.waitUntil { primary.info("replication", "master_link_status") == "up" }
        try await spillMore(fixture)
        #expect(refusals(primary) != nil, "the first write goes to the one that was the primary")
        await fixture.expectAll()
    }

    /// What a replica does not have is not lost.
    @Test func whatIsMissingOnAReplicaIsLookedForOnThePrimary() async throws {
        let (primary, replica) = try TestServer.pair()
        let empty = try TestServer(port: TestServer.freePort())
        let fixture = try RemoteFixture(Self.remote(primary, replica))
        await fixture.evict()
        #expect(fixture.isSpilled)
        replica.waitUntilReplicated(from: primary)
        replica.promote()
        primary.follow(empty)
        #expect(primary.keyNames.isEmpty)
        await fixture.expectAll()
    }

    /// Handed over while values come and go: nothing wrong is handed out, and nothing is lost.
    @Test func aPrimaryIsHandedOverInUse() async throws {
        let (primary, replica) = try TestServer.pair()
        let fixture = try RemoteFixture(Self.remote(primary, replica))
        let isOver = Shared(false)
        async let turns = fixture.comeAndGo(until: isOver)
        for (old, new) in [(primary, replica), (replica, primary)] {
            // As soon as it knows that the other has come this far.
            TestServer.waitUntil { old.run("FAILOVER", "TO", "127.0.0.1", "\(new.port)") == "OK" }
            TestServer.waitUntil { new.info("replication", "role") == "master" }
            TestServer.waitUntil { old.info("replication", "master_link_status") == "up" }
        }
        isOver.change { $0 = true }
        #expect(await turns >= 40)
        fixture.wait()
        await fixture.evict()
        #expect(fixture.isSpilled)
        await fixture.expectAll()
    }

    /// What nobody can make again does not leave memory for a server that may evict, whatever the one before said.
    @Test func aNewPrimaryIsAskedWhetherItEvicts() async throws {
        let (primary, replica) = try TestServer.pair(replica: "--maxmemory-policy", "allkeys-lru")
        let fixture = try RemoteFixture(Self.remote(primary, replica))
        // One whose only write is of such a value.
        let manager = try makeManager {
            $0.remote = Self.remote(primary, replica)
            $0.supportedDispositions = [.keep, .spill]
        }
        let bytes = RemoteFixture.bytes(20_000)
        let alone = try addController("app", to: manager.root).cache("mine", initialValue: bytes)
        replica.waitUntilReplicated(from: primary)
        primary.kill()
        replica.promote()
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(alone.residency == .resident)
        for _ in 0..<2 {
            await fixture.evict()
            #expect(fixture.isKept && fixture.made.residency == .spilled)
        }
        let report = await fixture.evict()
        #expect(report.failures.contains { $0.message.contains("noeviction") && $0.message.contains(replica.socket) })
    }

    @Test func whereNobodyIsThereAllAreNamed() async throws {
        let (primary, replica) = try TestServer.pair()
        let remote = Self.remote(primary, replica)
        let fixture = try RemoteFixture(remote)
        replica.waitUntilReplicated(from: primary)
        primary.kill()
        // A replica that has not taken over is no place.
        var report = await fixture.evict()
        #expect(fixture.isKept)
        #expect(report.failures.first?.message.contains("read-only replica") == true, "\(report.failures)")
        replica.kill()
        fixture.wait()
        report = await fixture.evict()
        #expect(fixture.isKept)
        let named = "\(primary.socket), \(replica.socket)"
        let failure = try #require(report.failures.first)
        #expect(
            failure.code == .spillFailed && failure.message.contains("Redis at \(named) is not there"),
            "\(failure)"
        )
        let error = #expect(throws: PressureError.self) { try RemoteFixture(remote) }
        #expect(error?.code == .serverUnusable && error?.message.contains(named) == true)
        try replica.start()
        fixture.wait()
        await fixture.evict()
        #expect(fixture.isSpilled)
        await fixture.expectAll()
    }

    /// Forty that take connections and answer nothing take no longer than one.
    @Test func howManyAreAskedDoesNotMakeItLonger() throws {
        let silent = try TestServer()
        let links = try (0..<40).map { number in
            let link = "\(silent.directory)/l\(number)"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: silent.socket)
            return link
        }
        silent.stop()
        defer { silent.resume() }
        let endpoints = links.map(RedisServer.Endpoint.unix)
        let server = RedisServer(
            endpoints: endpoints,
            connectTimeout: .milliseconds(300),
            commandTimeout: .milliseconds(500)
        )
        let start = SystemClock().now()
        let failure = #expect(throws: RedisFailure.self) {
            var search = RedisSearch(server)
            _ = try search.connect(endpoints)
        }
        #expect(failure == RedisFailure(.timedOut, mayArrive: false))
        // It is less than a second; one after the other are twenty.
        #expect(SystemClock().now() - start < .seconds(10))
    }

    /// The primary is killed as soon as values have left memory: the replica has every byte of them.
    @Test func whatReplicasMustHaveTheyHave() async throws {
        let (primary, replica) = try TestServer.pair()
        var remote = Self.remote(primary, replica)
        remote.requiredReplicas = 1
        remote.commandTimeout = .seconds(1)
        let fixture = try RemoteFixture(remote)
        // One that does not follow: what only the primary has does not leave memory, if nobody can make it again.
        replica.stop()
        let report = await fixture.evict()
        #expect(fixture.isKept && fixture.made.residency == .spilled)
        #expect(report.failures.contains { $0.message.contains("requiredReplicas") }, "\(report.failures)")
        replica.resume()
        replica.waitUntilReplicated(from: primary)
        for _ in 0..<10 where !fixture.isSpilled {
            fixture.wait()
            await fixture.evict()
        }
        #expect(fixture.isSpilled)
        primary.kill()
        replica.promote()
        await fixture.expectAll()
    }

    @Test func aStateThatReplicasMustHaveTheyHave() async throws {
        let (primary, replica) = try TestServer.pair()
        let sizes = [1_500_000, 5000, 10]
        let travelling = TravellingState(replica)
        var remote = Self.remote(primary, replica)
        remote.requiredReplicas = 1
        remote.commandTimeout = .seconds(1)
        let state = travelling.state(by: remote)
        let app = try TravellingApp(sizes)
        replica.stop()
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: state, version: "1")
        }
        #expect(error?.message.contains("requiredReplicas") == true, "\(String(describing: error))")
        replica.resume()
        replica.waitUntilReplicated(from: primary)
        remote.commandTimeout = .seconds(20)
        try await app.manager.saveState(to: travelling.state(by: remote), version: "1")
        primary.kill()
        replica.promote()
        // The lock has gone on with the one that was killed, or is let go.
        travelling.endLease()
        try await travelling.expect(sizes)
    }

    @Test func aStateIsRestoredFromTheReplicaThatTookOver() async throws {
        let (primary, replica) = try TestServer.pair()
        let sizes = [1_500_000, 5000, 10]
        let travelling = TravellingState(replica)
        let state = travelling.state(by: Self.remote(primary, replica))
        let app = try TravellingApp(sizes)
        try await app.manager.saveState(to: state, version: "1")
        replica.waitUntilReplicated(from: primary)
        primary.kill()
        replica.promote()
        // By the manager that knew the old one, and by one that knows none.
        try await app.manager.saveState(to: state, version: "1")
        do {
            let other = try TravellingApp(nil)
            try await other.manager.restoreState(from: state, version: "1")
            try await other.expect(sizes)
            try await other.manager.saveState(to: state, version: "1")
        }
        TestServer.waitUntil { travelling.isAlone }
    }

    @Test func addressesThatAreNoneAreRefused() {
        for (addresses, word) in [
            ([], "no address"), (["a", "b:x"], "\"b:x\""), (["a", "/" + String(repeating: "x", count: 107)], "108"),
        ] {
            let error = #expect(throws: PressureError.self) {
                try makeManager { $0.remote = .redis(addresses: addresses) }
            }
            #expect(error?.code == .invalidConfiguration && error?.message.contains(word) == true)
        }
    }
}
#endif
