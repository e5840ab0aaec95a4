#if Redis
import CTestShims
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// A process without a disk, and a real server.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteSpillTests {
    @Test(arguments: [1, 2]) func valuesOfEverySizeGoAndComeBack(workers: Int) async throws {
        let server = try TestServer()
        let sizes = [1, 1 << 10, 4097, 64 << 10, (256 << 10) + 1, 1 << 20, 4 << 20]
        let manager = try makeManager(workers: workers) {
            $0.remote = server.remote()
            $0.supportedDispositions = [.keep, .spill]
        }
        let controller = try addController("app", to: manager.root)
        let caches = try sizes.map { size in
            let bytes = makeBytes(size, seed: UInt64(size), randomBits: 6)
            return (bytes, try controller.cache("mine\(size)", initialValue: bytes))
        }
        for _ in 0..<3 {
            _ = await manager.simulateMemoryWarning(.critical)
            #expect(caches.allSatisfy { $0.1.residency == .spilled })
            for (bytes, cache) in caches { #expect(try await cache.value() == bytes) }
        }
        // What is there has a lease, and the length that its allocator likes.
        let segments = server.segments
        #expect(segments.count >= 4)
        for key in segments {
            #expect(server.run("STRLEN", key) == "\(RedisSegments.segmentLength + 1)")
            #expect(try #require(server.run("PTTL", key).flatMap { Int($0) }) > 0)
        }
    }

    /// Many in a request: the server counts requests.
    @Test func smallValuesTravelTogether() async throws {
        let server = try TestServer()
        let manager = try makeManager { $0.remote = server.remote() }
        let controller = try addController("app", to: manager.root)
        let bytes = (0..<1000).map { makeBytes(1000, seed: $0, randomBits: 8) }
        let caches = try (0..<1000).map { try controller.cache("c\($0)", initialValue: bytes[$0]) }
        func writes() -> Int {
            let lines = server.run("INFO", "commandstats")?.split(whereSeparator: \.isNewline)
            let line = lines?.first { $0.contains("cmdstat_exec:") }
            return line?.split(separator: "=")[1].split(separator: ",").first.flatMap { Int($0) } ?? 0
        }
        let before = writes()
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(caches.allSatisfy { $0.residency == .spilled })
        #expect(1..<50 ~= writes() - before)
        for (cache, bytes) in zip(caches, bytes) { #expect(try await cache.value() == bytes) }
    }

    /// What is given back is deleted, and nothing is left in the end.
    @Test func anOrderlyEndLeavesNothing() async throws {
        let server = try TestServer()
        do {
            var remote = server.remote()
            // So that nothing goes by itself.
            remote.lease = .seconds(86_400)
            let fixture = try RemoteFixture(remote)
            await fixture.evict()
            #expect(fixture.isSpilled && !server.segments.isEmpty)
            await fixture.manager.shutdown()
            await fixture.expectAll()
        }
        TestServer.waitUntil { server.keyNames.isEmpty }
    }

    @Test func aProcessThatExitsLeavesNothing() async throws {
        let server = try TestServer()
        let socket = server.socket
        await #expect(processExitsWith: .exitCode(7)) { [socket = socket as String] in
            var remote = RemoteSpill.redis(socketPath: socket)
            remote.lease = .seconds(86_400)
            let fixture = try RemoteFixture(remote)
            await fixture.evict()
            precondition(fixture.isSpilled)
            exit(7)
        }
        #expect(server.keyNames == [])
        // It was there.
        #expect(server.run("INFO", "stats")?.contains("expired_keys:0") == true)
    }

    @Test func aProcessThatIsKilledLeavesNothingForLongerThanItsLease() async throws {
        let server = try TestServer()
        let socket = server.socket
        await #expect(processExitsWith: .signal(SIGKILL)) { [socket = socket as String] in
            var remote = RemoteSpill.redis(socketPath: socket)
            remote.lease = .seconds(1)
            let fixture = try RemoteFixture(remote)
            await fixture.evict()
            precondition(fixture.isSpilled)
            kill(getpid(), SIGKILL)
        }
        TestServer.waitUntil { server.keyNames.isEmpty }
    }

    /// The lease is renewed: values stay longer than it is.
    @Test func valuesOutliveTheFirstLease() async throws {
        let server = try TestServer()
        var remote = server.remote()
        remote.lease = .seconds(1)
        let fixture = try RemoteFixture(remote)
        await fixture.evict()
        let key = try #require(server.segments.first)
        // It has gone down and up again, and that twice.
        for _ in 0..<2 {
            TestServer.waitUntil { server.run("PTTL", key).flatMap { Int($0) } ?? 0 < 800 }
            TestServer.waitUntil { server.run("PTTL", key).flatMap { Int($0) } ?? 0 > 800 }
        }
        await fixture.expectAll()
    }

    /// A child of fork(2) may read, on a connection of its own, and changes nothing.
    @Test func aChildLeavesTheParentsConnectionsAlone() async throws {
        let server = try TestServer()
        let socket = server.socket
        await #expect(processExitsWith: .success) { [socket = socket as String] in
            let options = RedisSpaceOptions(server: RedisServer(endpoints: [.unix(path: socket)]))
            let space = RedisSpace(options)
            let nowhere = SpillDirectory(server: "")
            let file = try SegmentFile(directory: nowhere, fileSystem: space, limits: SpillLimits(), cipher: nil)
            let bytes = makeBytes(50_000, seed: 1, randomBits: 8)
            let encoder = try ChunkEncoder()
            let record = try unsafe bytes.withUnsafeBytes { try unsafe file.write($0, with: encoder) }
            let decoder = try ChunkDecoder()
            var found = [UInt8](repeating: 0, count: bytes.count)
            let child = pk_fork()
            if child == 0 {
                // A parent's connection, and it would get the answers to these.
                for _ in 0..<100 {
                    try unsafe found.withUnsafeMutableBytes { try unsafe file.read(record, into: $0, with: decoder) }
                    guard found == bytes else { _exit(1) }
                }
                space.close(0)
                let isWritten = try? unsafe bytes.withUnsafeBytes { try unsafe file.write($0, with: encoder) }
                // With what is done at the exit of a process.
                exit(isWritten == nil ? 0 : 2)
            }
            for _ in 0..<100 {
                try unsafe found.withUnsafeMutableBytes { try unsafe file.read(record, into: $0, with: decoder) }
                guard found == bytes else { exit(3) }
            }
            var status: CInt = 0
            _ = unsafe waitpid(child, &status, 0)
            guard status == 0 else { exit(4) }
            try unsafe found.withUnsafeMutableBytes { try unsafe file.read(record, into: $0, with: decoder) }
            guard found == bytes else { exit(5) }
        }
    }

    @Test func theLimitCounts() async throws {
        let server = try TestServer()
        let fixture = try RemoteFixture(server.remote()) { $0.spillLimit = .kibibytes(256) }
        let report = await fixture.evict()
        #expect(report.failures.contains { $0.code == .diskFull })
        #expect(fixture.mine[3].residency == .resident && server.segments.count <= 1)
        // Smaller, all of them have room.
        try fixture.mine[3].set(RemoteFixture.bytes(30_000))
        fixture.wait()
        await fixture.evict()
        #expect(fixture.isSpilled)
        #expect(try await fixture.mine[3].value() == RemoteFixture.bytes(30_000))
    }

    /// Behind a disk: a reclaim fills the disk first, and what the server loses is an error or is loaded again.
    @Test func behindADiskItTakesWhatThatHasNoRoomFor() async throws {
        let server = try TestServer()
        let manager = try makeManager {
            $0.remote = .redis(socketPath: server.socket)
            $0.spillLimit = .mebibytes(1)
            $0.supportedDispositions = [.keep, .spill]
        }
        let controller = try addController("app", to: manager.root)
        let bytes = (0..<32).map { makeBytes(100_000, seed: $0, randomBits: 8) }
        let caches = try bytes.enumerated().map { try controller.cache("c\($0.offset)", initialValue: $0.element) }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(caches.allSatisfy { $0.residency == .spilled })
        let snapshot = manager.snapshot()
        #expect(snapshot.stored >= .kibibytes(800) && snapshot.demoted >= .mebibytes(2) && !server.segments.isEmpty)
        for (cache, bytes) in zip(caches, bytes) { #expect(try await cache.value() == bytes) }
        // All of them have their copies, wherever those are.
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(Set(report.evicted.map(\.outcome)) == [.reused])
        server.kill()
        try server.start()
        var lost = 0
        for (cache, bytes) in zip(caches, bytes) {
            do {
                #expect(try await cache.value() == bytes)
            } catch {
                lost += 1
                #expect((error as? PressureError)?.message.contains(server.socket) == true)
            }
        }
        #expect(20...25 ~= lost)
    }

    /// The manager says so when it is made, and not when memory is short.
    @Test func aServerThatIsNotThereIsNoSecondPlace() throws {
        let error = #expect(throws: PressureError.self) {
            try makeManager { $0.remote = .redis(socketPath: "/tmp/pk-nobody") }
        }
        #expect(error?.code == .serverUnusable)
    }

    @Test func aConfigurationThatCannotBeIsRefused() throws {
        let mistakes: [(inout RemoteSpill) -> Void] = [
            { $0.connections = 0 }, { $0.lease = .milliseconds(10) }, { $0.commandTimeout = .zero },
            { $0.keyPrefix = "a{b" }, { $0 = .redis(host: "") }, { $0 = .redis(host: "a", port: 70_000) },
            { $0 = .redis(host: "a", user: "somebody") }, { $0.limit = .zero },
            { $0.requiredReplicas = -1 },
            { $0 = .redis(socketPath: String(repeating: "x", count: 108)) },
        ]
        for mistake in mistakes {
            var remote = RemoteSpill.redis(host: "127.0.0.1")
            mistake(&remote)
            let error = #expect(throws: PressureError.self) { try makeManager { $0.remote = remote } }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
#endif
