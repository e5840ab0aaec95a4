#if Redis
import Glibc
import PressureKitTestSupport
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// Who has what on a server, and what may go.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RedisReaperTests {
    @Test func whoIsThereIsListedAndLeftAlone() async throws {
        let server = try TestServer()
        let fixture = try RemoteFixture(server.remote())
        await fixture.evict()
        let reaper = RedisReaper(server.server)
        let found = try reaper.list()
        let generation = try #require(found.first)
        #expect(found.count == 1 && generation.state == .held && generation.pid == Int(getpid()))
        #expect(generation.segments == server.segments.count)
        #expect(generation.bytes == generation.segments * (RedisSegments.segmentLength + 1))
        #expect(try #require(generation.leaseLeft) > 0 && generation.age != nil && generation.host?.isEmpty == false)
        #expect(try reaper.sweep(all: false) == [])
        await fixture.expectAll()
    }

    @Test func whatNobodyHoldsIsSwept() async throws {
        let server = try TestServer()
        let fixture = try RemoteFixture(server.remote())
        await fixture.evict()
        // One whose lease is over, by the list; one whose keys have none; one that is on no list; and others' keys.
        server.run("ZADD", "pk:generations", "1", "dead")
        server.run("SET", "pk:{dead}:1", "x", "EX", "1000")
        server.run("SET", "pk:{stuck}:7", "xyz")
        server.run("SET", "pk:{shy}:1", "x", "EX", "1000")
        server.run("SET", "pk:{shy}:other", "x")
        server.run("SET", "pkother:{dead}:1", "x")
        let reaper = RedisReaper(server.server)
        let swept = try reaper.sweep(all: false)
        #expect(Set(swept.map(\.name)) == ["dead", "stuck"])
        #expect(swept.first { $0.name == "stuck" }?.bytes == 3)
        #expect(Set(try reaper.list().map(\.state)) == [.held, .unlisted])
        await fixture.expectAll()
        await fixture.evict()
        #expect(try reaper.sweep(all: true).count == 2)
        #expect(Set(server.keyNames) == ["pk:{shy}:other", "pkother:{dead}:1"])
    }

    /// By name, with what it takes, who saved it, when, and for how long; a sweep leaves it alone.
    @Test func savedStatesAreListedAndLeftAlone() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        let sizes = [1_500_000, 5000, 10]
        try await travelling.save(sizes)
        let reaper = RedisReaper(server.server)
        let state = try #require(try reaper.states().first)
        #expect(state.name == "app" && state.pid == Int(getpid()) && state.host == RedisStateOwner.hostName)
        #expect(state.bytes == (try travelling.names.reduce(0) { $0 + (try server.contents(of: $1).count) }))
        #expect(state.otherBytes == 0 && state.holder == nil && state.age != nil)
        #expect(try #require(state.left) > 0 && #require(state.left) <= 86_400_000)
        #expect(try reaper.list() == [], "it is no generation of a process")
        // Whoever reads it is told of; what an interrupted save leaves is counted.
        let app = try TravellingApp(nil)
        try await app.manager.restoreState(from: travelling.state(), version: "1")
        server.run("SET", travelling.keys.segment(0, of: "begun"), "xyz", "EX", "1000")
        server.run("SET", "pk:state:{other}:gone:0", "xy", "PX", "50000")
        let found = try reaper.states()
        #expect(found.map(\.name) == ["app", "other"])
        #expect(found[0].holder == "process \(getpid()) on \(RedisStateOwner.hostName)")
        #expect(found[0].otherBytes == 3 && found[0].left ?? 0 > 1_000_000)
        #expect(found[1].bytes == 0 && found[1].otherBytes == 2 && (1...50_000).contains(found[1].left ?? 0))
        #expect(try reaper.sweep(all: false) == [] && reaper.sweepStates(all: false) == [])
        try await app.expect(sizes)
        // What belongs to no state and has no lease is nobody's.
        server.run("PERSIST", travelling.keys.segment(0, of: "begun"))
        server.run("PERSIST", travelling.keys.record)
        #expect(try reaper.states()[0].left == nil)
        let swept = try reaper.sweepStates(all: false)
        #expect(swept.map(\.name) == ["app"] && swept[0].bytes == 0 && swept[0].otherBytes == 3)
        #expect(try reaper.states()[0].otherBytes == 0)
        try await app.manager.saveState(to: travelling.state(), version: "1")
        #expect(try reaper.sweepStates(all: true).map(\.name) == ["app", "other"])
        #expect(server.keyNames.isEmpty)
    }

    @Test func aServerThatIsNotThereIsAnError() throws {
        let server = try TestServer()
        server.kill()
        let error = #expect(throws: PressureError.self) { try RedisReaper(server.server).list() }
        #expect(error?.code == .serverUnusable && error?.message.contains(server.socket) == true)
    }

    @Test(arguments: [
        ("pk:{a-1-x}:12", "a-1-x", true), ("pk:{a}:about", "a", false), ("pk:{a}b}:0", "a}b", true),
    ]) func keysAreReadAsTheyAreWritten(_ key: String, _ generation: String, _ isSegment: Bool) {
        let found = RedisKeys.parse(key, prefix: "pk")
        #expect(found?.keys.generation == generation && found?.isSegment == isSegment)
    }

    @Test(arguments: ["", "pk:generations", "pk:{}:1", "pk:{a}:", "pk:{a}:x", "pk:{a", "qk:{a}:1", "pk:{a}1"])
    func otherKeysAreNot(_ key: String) { #expect(RedisKeys.parse(key, prefix: "pk") == nil) }

    @Test func aPolicyIsFoundInWhatTheServerSays() {
        #expect(
            EvictionOfServer.parse("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n") == .keepsEverything
        )
        #expect(EvictionOfServer.parse("maxmemory_policy:volatile-lru\r\n") == .mayEvict)
        #expect(EvictionOfServer.parse("maxmemory:0\r\n") == .unknown)
        #expect(EvictionOfServer.parse("") == .unknown)
    }
}
#endif
