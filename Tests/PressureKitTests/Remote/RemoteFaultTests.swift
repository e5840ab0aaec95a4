#if Redis
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// Everything that a server can do to a process that relies on it: values stay in memory, or are made again, or their readers
/// get an error that names cache and server; and when the server is well again, so is everything.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteFaultTests {
    enum Fault: CaseIterable {
        case killed, full, replica, stopped, nonsense, closed, refused, silent

        /// Whether what was written before can be read meanwhile.
        var letsRead: Bool { self == .full || self == .replica }
        /// Whether what was written before is there afterwards.
        var keeps: Bool { self != .killed }
        /// What the person who reads the message is told.
        var word: String {
            switch self {
            case .killed: "is not there"
            case .full: "maxmemory"
            case .replica: "read-only replica"
            case .stopped, .silent: "in time"
            case .nonsense: "no answer"
            case .closed, .refused: "closed the connection"
            }
        }

        func begin(_ server: TestServer, _ proxy: BreakingProxy) {
            switch self {
            case .killed: server.kill()
            case .full: server.run("CONFIG", "SET", "maxmemory", "1")
            case .replica: server.run("REPLICAOF", "127.0.0.1", "1")
            case .stopped: server.stop()
            case .nonsense: proxy.set(.answer("HTTP/1.1 400 Bad Request\r\n\r\n"))
            case .closed: proxy.set(.closeAfter(3))
            case .refused:
                // Those that are open go too.
                server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                proxy.set(.refuse)
            case .silent: proxy.set(.silence)
            }
        }

        func end(_ server: TestServer, _ proxy: BreakingProxy) throws {
            switch self {
            case .killed: try server.start()
            case .full: server.run("CONFIG", "SET", "maxmemory", "0")
            case .replica: server.run("REPLICAOF", "NO", "ONE")
            case .stopped: server.resume()
            case .nonsense, .closed, .refused, .silent: proxy.set(.pass)
            }
        }
    }

    private func remote(_ server: TestServer, _ proxy: BreakingProxy, _ fault: Fault) -> RemoteSpill {
        // Directly where the server itself is at fault, so that what is seen of it is its own.
        var remote = [.killed, .stopped].contains(fault) ? server.remote() : proxy.remote
        remote.commandTimeout = .seconds(1)
        return remote
    }

    @Test(arguments: Fault.allCases) func whatCannotBeWrittenStaysInMemory(_ fault: Fault) async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        let remote = remote(server, proxy, fault)
        let fixture = try RemoteFixture(remote)
        fault.begin(server, proxy)
        let report = await fixture.evict()
        #expect(fixture.isKept)
        let failure = try #require(report.failures.first)
        #expect(
            failure.message.contains(fault.word) && failure.message.contains(remote.options.server.name),
            "\(failure)"
        )
        #expect(failure.path?.hasPrefix("app/") == true)
        #expect(failure.code == (fault == .full ? .diskFull : .spillFailed))
        // Everything else goes on.
        #expect(fixture.mine[0].residency == .resident)
        try fault.end(server, proxy)
        fixture.wait()
        await fixture.evict()
        #expect(fixture.isSpilled)
        await fixture.expectAll()
    }

    @Test(arguments: Fault.allCases) func whatCannotBeReadIsMadeAgainOrAnError(_ fault: Fault) async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        let remote = remote(server, proxy, fault)
        let fixture = try RemoteFixture(remote)
        await fixture.evict()
        #expect(fixture.isSpilled)
        fault.begin(server, proxy)
        if fault.letsRead {
            await fixture.expectAll()
        } else {
            let error = await #expect(throws: PressureError.self) { try await fixture.mine[0].value() }
            #expect(error?.code == .restoreFailed && error?.path == "app/mine1024")
            #expect(error?.message.contains(fault.word) == true, "\(String(describing: error))")
            #expect(error?.message.contains(remote.options.server.name) == true)
            #expect(try await fixture.made.value() == RemoteFixture.bytes(70_000))
            #expect(fixture.loads.value == 2)
        }
        try fault.end(server, proxy)
        fixture.wait()
        if fault.keeps {
            await fixture.expectAll(loads: fault.letsRead ? 1 : 2)
        } else {
            // It was restarted and is empty: gone is gone, and says so.
            for cache in fixture.mine {
                let error = await #expect(throws: PressureError.self) { try await cache.value() }
                #expect(error?.code == .damagedCopy && error?.message.contains("restarted") == true)
            }
            for (cache, size) in zip(fixture.mine, RemoteFixture.sizes) {
                try cache.set(RemoteFixture.bytes(size))
            }
        }
        await fixture.evict()
        #expect(fixture.isSpilled)
        await fixture.expectAll(loads: fault.letsRead ? 1 : 2)
    }

    /// A string that another write has made anew has zeros where others' values were. They are not taken for values.
    @Test func zerosAreNotTakenForValues() async throws {
        let server = try TestServer()
        let fixture = try RemoteFixture(server.remote())
        await fixture.evict()
        server.run("FLUSHALL")
        let late = try fixture.controller.cache("late", initialValue: RemoteFixture.bytes(1234))
        await fixture.evict()
        #expect(late.residency == .spilled)
        // All are in one segment, and it is there again.
        #expect(server.segments.count == 1)
        for cache in fixture.mine {
            let error = await #expect(throws: PressureError.self) { try await cache.value() }
            #expect(error?.code == .damagedCopy)
        }
        #expect(try await fixture.made.value() == RemoteFixture.bytes(70_000))
        #expect(try await late.value() == RemoteFixture.bytes(1234))
    }

    /// A write that was given up arrives when its place is another value's: that one is not there.
    @Test func whatArrivesLateHarmsNobody() async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        var remote = proxy.remote
        remote.commandTimeout = .seconds(1)
        let manager = try RemoteFixture(remote)
        let cache = manager.mine[3]
        proxy.set(.hold)
        await manager.evict()
        #expect(manager.isKept && proxy.broken > 0)
        proxy.set(.pass)
        manager.wait()
        let other = makeBytes(300_000, seed: 99, randomBits: 8)
        try cache.set(other)
        await manager.evict()
        #expect(manager.isSpilled)
        let keys = server.segments
        proxy.letGo()
        // What was held back has been carried out.
        TestServer.waitUntil { server.segments.count > keys.count }
        #expect(try await cache.value() == other)
        for (cache, size) in zip(manager.mine, RemoteFixture.sizes).dropLast() {
            #expect(try await cache.value() == RemoteFixture.bytes(size))
        }
    }

    @Test func whatMayBeEvictedIsOnlyWhatALoaderMakes() async throws {
        let server = try TestServer("--maxmemory-policy", "allkeys-lru")
        var remote = server.remote()
        remote.lease = .seconds(1)
        let fixture = try RemoteFixture(remote)
        let report = await fixture.evict()
        #expect(fixture.isKept && fixture.made.residency == .spilled)
        #expect(report.failures.contains { $0.code == .spillFailed && $0.message.contains("noeviction") })
        // It is asked again with each renewal.
        server.run("CONFIG", "SET", "maxmemory-policy", "noeviction")
        let space = fixture.manager.context.engine.file.fileSystem
        TestServer.waitUntil { space.keepsEverything }
        await fixture.evict()
        #expect(fixture.isSpilled)
        server.run("CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
        TestServer.waitUntil { !space.keepsEverything }
        await fixture.expectAll()
    }

    @Test func whatMayBeEvictedIsCompressedWhereThatIsAllowed() async throws {
        let server = try TestServer("--maxmemory-policy", "allkeys-lru")
        let manager = try makeManager {
            $0.remote = server.remote()
            $0.compressedTier = .whenSpillingFails(upTo: .mebibytes(16))
        }
        let controller = try addController("app", to: manager.root)
        let bytes = makeBytes(300_000, seed: 1, randomBits: 2)
        let cache = try controller.cache("mine", initialValue: bytes)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .compressed && report.failures.isEmpty)
        #expect(try await cache.value() == bytes)
    }

    /// The lease runs out while the process cannot be heard.
    @Test func whatTheLeaseHasTakenIsAnErrorOrMadeAgain() async throws {
        let server = try TestServer()
        var remote = server.remote()
        remote.lease = .seconds(1)
        remote.options.renews = false
        let fixture = try RemoteFixture(remote)
        await fixture.evict()
        TestServer.waitUntil { server.segments.isEmpty }
        let error = await #expect(throws: PressureError.self) { try await fixture.mine[0].value() }
        #expect(
            error?.code == .damagedCopy && error?.path == "app/mine1024" && error?.message.contains("lease") == true
        )
        #expect(try await fixture.made.value() == RemoteFixture.bytes(70_000))
    }
}
#endif
