#if Redis
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import SystemPackage
import Testing

@testable import PressureKit
@testable import SpillStore

/// Redis Cluster: what it does is what one server does.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteClusterTests {
    private static let sizes = [1_500_000, 5000, 10]

    @Test func allNodesTogetherAreOneServer() async throws {
        let cluster = try TestCluster()
        var remote = cluster.remote()
        remote.lease = .seconds(5)
        // To whichever node it leads.
        remote.connections = 1
        do {
            var fixtures: [RemoteFixture] = []
            repeat {
                fixtures.append(try RemoteFixture(remote))
                await fixtures.last?.evict()
                #expect(fixtures.last?.isSpilled == true)
            } while cluster.holders.count < 3
            for fixture in fixtures { await fixture.expectAll() }
            try expectList(cluster, remote, fixtures.count)
            for node in cluster.nodes {
                let key = try #require(node.segments.first)
                TestServer.waitUntil { node.run("PTTL", key).flatMap { Int($0) } ?? 0 < 4000 }
                TestServer.waitUntil { node.run("PTTL", key).flatMap { Int($0) } ?? 0 > 4000 }
            }
            // Each has one connection, wherever that leads, and we have the one that asks.
            TestServer.waitUntil {
                let clients = cluster.nodes.compactMap { $0.info("clients", "connected_clients").flatMap { Int($0) } }
                return clients.reduce(0) { $0 + $1 - 1 } <= fixtures.count
            }
            for fixture in fixtures { await fixture.expectAll() }
        }
        for node in cluster.nodes { TestServer.waitUntil { node.keyNames.isEmpty } }
        try await expectStatesTravel(cluster)
    }

    /// What processes have is listed, whatever node has it; what nobody has is deleted there.
    private func expectList(_ cluster: TestCluster, _ remote: RemoteSpill, _ count: Int) throws {
        let reaper = RedisReaper(remote.options.server)
        let found = try reaper.list()
        #expect(
            found.count == count && found.allSatisfy { $0.state == .held && $0.pid == Int(getpid()) && $0.age != nil }
        )
        let segments = cluster.nodes.reduce(0) { $0 + $1.segments.count }
        #expect(found.reduce(0) { $0 + $1.segments } == segments)
        #expect(try reaper.sweep(all: false) == [])
        var stuck: Set<String> = []
        for node in cluster.nodes {
            let name = try #require(
                (0...).lazy.map { "stuck\($0)" }.first { node.run("SET", "pk:{\($0)}:7", "x") == "OK" }
            )
            stuck.insert(name)
        }
        #expect(Set(try reaper.sweep(all: false).map(\.name)) == stuck)
        #expect(cluster.nodes.reduce(0) { $0 + $1.segments.count } == segments)
    }

    /// Saved by one manager, restored by another, on every node.
    private func expectStatesTravel(_ cluster: TestCluster) async throws {
        var names: [String] = []
        for node in cluster.nodes {
            names.append(
                try #require(
                    (0...).lazy.map { "app\($0)" }
                        .first { node.run("SET", RedisStateKeys(prefix: "pk", name: $0).record, "", "PX", "1") == "OK" }
                )
            )
        }
        for (index, name) in names.enumerated() {
            let app = try TravellingApp(Self.sizes, seed: UInt64(index))
            try await app.manager.saveState(to: RemoteState(name, on: cluster.remote()), version: "1")
        }
        let reaper = RedisReaper(cluster.remote().options.server)
        let found = try reaper.states()
        #expect(found.map(\.name) == names.sorted() && found.allSatisfy { $0.bytes > 1_500_000 && $0.age != nil })
        for (index, name) in names.enumerated() {
            let app = try TravellingApp(nil)
            let state = RemoteState(name, on: cluster.remote(cluster.nodes[(index + 1) % 3]))
            try await app.manager.restoreState(from: state, version: "1")
            try await app.expect(Self.sizes, seed: UInt64(index))
        }
        #expect(try Set(reaper.sweepStates(all: true).map(\.name)) == Set(names))
        for node in cluster.nodes { #expect(node.keyNames.isEmpty) }
    }

    /// A slot goes to another node while values come and go: nothing wrong is handed out, and nothing is lost.
    @Test func aSlotMovesWhileItIsInUse() async throws {
        let cluster = try TestCluster()
        let fixture = try RemoteFixture(cluster.remote())
        await fixture.evict()
        let source = try #require(cluster.holders.first)
        let target = try #require(cluster.nodes.first { $0 !== source })
        let key = try #require(source.segments.first)
        let (slot, ids) = (cluster.slot(of: key), [source, target].map(cluster.id))
        // Some keys are here, and some there: what has gone is told to be asked for elsewhere.
        #expect(target.run("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0]) == "OK")
        #expect(source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1]) == "OK")
        func migrate(_ key: String) { source.run("MIGRATE", "127.0.0.1", "\(target.port)", key, "0", "10000") }
        migrate(key)
        #expect(!source.segments.contains(key))
        let error = await #expect(throws: PressureError.self) { try await fixture.mine[0].value() }
        #expect(error?.code == .restoreFailed && error?.message.contains("moves keys") == true)
        #expect(try await fixture.made.value() == RemoteFixture.bytes(70_000) && fixture.loads.value == 2)
        let isOver = Shared(false)
        async let turns = fixture.comeAndGo(until: isOver)
        // As a tool does it: until none is left, and then both are told.
        while let names = source.run("CLUSTER", "GETKEYSINSLOT", slot, "100"), !names.isEmpty {
            for name in names.split(separator: "\n") { migrate(String(name)) }
        }
        for node in [target] + cluster.nodes { #expect(node.run("CLUSTER", "SETSLOT", slot, "NODE", ids[1]) == "OK") }
        isOver.change { $0 = true }
        #expect(await turns >= 40)
        fixture.wait()
        await fixture.evict()
        #expect(fixture.isSpilled && cluster.holders.map(\.port) == [target.port])
        await fixture.expectAll(loads: fixture.loads.value)
    }

    /// Two that each say that the other has it.
    @Test func answersThatLeadInCirclesEnd() throws {
        let servers = try (0..<2).map { _ in try TestServer(port: TestServer.freePort()) }
        let endpoints = servers.map { RedisServer.Endpoint.tcp(host: "127.0.0.1", port: $0.port) }
        let server = RedisServer(
            endpoints: [endpoints[0]],
            connectTimeout: .seconds(60),
            commandTimeout: .seconds(60),
            connections: 1
        )
        var asked: [RedisServer.Endpoint] = []
        func ask(_ connection: RedisConnection) throws(RedisFailure) {
            asked.append(connection.endpoint)
            let other = connection.endpoint == endpoints[0] ? endpoints[1] : endpoints[0]
            throw RedisFailure(answer: "MOVED 1 \(other)")
        }
        let pool = RedisPool(server, for: "x", clock: SystemClock())
        for _ in 0..<2 {
            let failure = #expect(throws: RedisFailure.self) { try pool.withConnection(ask) }
            #expect(failure?.errno == .resourceTemporarilyUnavailable && failure?.mayArrive == false)
        }
        #expect(asked == (0..<2 * (RedisSearch.mostTurns + 1)).map { endpoints[$0 % 2] })
        #expect(throws: RedisFailure.self) { try pool.withConnectionApart(ask) }
        #expect(asked.count == 3 * (RedisSearch.mostTurns + 1))
    }

    @Test func aReplicaOfANodeTakesOver() async throws {
        var cluster = try TestCluster()
        let fixture = try RemoteFixture(cluster.remote())
        await fixture.evict()
        #expect(fixture.isSpilled)
        let node = try #require(cluster.holders.first)
        // A state that is on the same node.
        let name = try #require(
            (0...).lazy.map { "app\($0)" }
                .first { node.run("SET", RedisStateKeys(prefix: "pk", name: $0).record, "", "PX", "1") == "OK" }
        )
        let others = cluster.nodes.filter { $0 !== node }
        let state = RemoteState(name, on: .redis(addresses: (others + [node]).map(\.socket)))
        try await TravellingApp(Self.sizes).manager.saveState(to: state, version: "1")
        let replica = try cluster.addReplica(of: node)
        node.kill()
        // Nobody has taken over: the others name one that is not there.
        let error = await #expect(throws: PressureError.self) { try await fixture.mine[0].value() }
        #expect(
            error?.code == .restoreFailed && error?.message.contains("is not there") == true,
            "\(String(describing: error))"
        )
        fixture.wait()
        #expect(replica.run("CLUSTER", "FAILOVER", "TAKEOVER") == "OK")
        TestServer.waitUntil { replica.info("replication", "role") == "master" }
        for other in others {
            TestServer.waitUntil {
                (try? RedisNodes.ask(other.connect()))??.contains(.tcp(host: "127.0.0.1", port: replica.port)) == true
            }
        }
        await fixture.expectAll()
        let new = try fixture.controller.cache("new", initialValue: RemoteFixture.bytes(40_000))
        await fixture.evict()
        #expect(new.residency == .spilled && fixture.isSpilled)
        #expect(try await new.value() == RemoteFixture.bytes(40_000))
        let app = try TravellingApp(nil)
        try await app.manager.restoreState(from: state, version: "1")
        try await app.expect(Self.sizes)
    }
}
#endif
