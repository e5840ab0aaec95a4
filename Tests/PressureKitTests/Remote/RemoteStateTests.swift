#if Redis
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// Saved on one machine, restored on another.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteStateTests {
    private static let sizes = [3_000_000, 5000, 700_000]

    @Test func everythingComesBackOnAnotherMachine() async throws {
        let server = try TestServer()
        let state = TravellingState(server).state()
        let bench = StateBench()
        do {
            let app = try StateBench.App(bench.disk)
            try await bench.fill(app)
            let report = try await app.manager.saveState(to: state, version: "1")
            #expect(report.controllers.sorted() == ["news", "news/article", "news/article/sheet"])
            #expect(report.caches.count == 6)
        }
        let other = StateBench()
        let app = try StateBench.App(other.disk)
        let report = try await app.manager.restoreState(from: state, version: "1")
        #expect(report.isFound && report.version == "1" && report.stopped == [] && report.failures == [])
        try other.check(app)
        // What was read is as any other value: out again, back again, and saved again.
        _ = await app.manager.simulateMemoryWarning(.critical)
        try await app.manager.saveState(to: state, version: "2")
        let third = StateBench()
        let last = try StateBench.App(third.disk)
        #expect(try await last.manager.restoreState(from: state, version: "2").version == "2")
        try third.check(last)
    }

    /// The bytes of the file, so that what reads the one reads the other.
    @Test func itIsWhatADirectoryWouldHave() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        let disk = InMemoryFileSystem()
        let manager = try makeManager(fileSystem: disk)
        let app = try addController("app", to: manager.root)
        for number in 0..<5 {
            _ = try app.cache("\(number)", initialValue: makeBytes(700_000, seed: UInt64(number), randomBits: 7))
        }
        let report = try await manager.saveState(to: travelling.state(), version: "1")
        try await manager.saveState(to: "/var/tmp/state", version: "1")
        let strings = try travelling.names.map { try server.contents(of: $0) }
        #expect(strings.count >= 3 && strings.dropLast().allSatisfy { $0.count == RedisStateRecord.segmentLength })
        #expect(isSame(strings.flatMap { $0 }, try #require(disk.contents(named: "/var/tmp/state/state"))))
        #expect(report.byteCount == .bytes(strings.reduce(0) { $0 + $1.count }))
    }

    @Test func whatWasSavedStaysForTheTimeThatWasNamed() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        let app = try TravellingApp(Self.sizes)
        try await app.manager.saveState(to: travelling.state(lifetime: .seconds(5000)))
        #expect(travelling.isAlone && travelling.names.count == 4)
        let left = try #require(server.run("PTTL", travelling.keys.record).flatMap { Int($0) })
        #expect(left > 0 && left <= 5_000_000)
        // Its strings are there as long as it is.
        for name in travelling.names {
            #expect(try #require(server.run("PTTL", name).flatMap { Int($0) }) > left)
        }
        // The one before goes at once.
        let before = travelling.names
        try await app.manager.saveState(to: travelling.state())
        #expect(travelling.isAlone && Set(travelling.names).isDisjoint(with: before))
        // One that is over is none.
        server.run("PEXPIRE", travelling.keys.record, "1")
        TestServer.waitUntil { server.run("EXISTS", travelling.keys.record) == "0" }
        let other = try TravellingApp(nil)
        #expect(try await other.manager.restoreState(from: travelling.state()).isFound == false)
    }

    @Test func withoutAStateNothingHappens() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        let app = try TravellingApp(nil)
        #expect(try await app.manager.restoreState(from: travelling.state()).isFound == false)
        #expect(app.isUntouched && server.keyNames.isEmpty, "and nobody holds it")
        #expect(try await app.manager.removeState(travelling.state()) == false)
    }

    /// Who has restored it has it until it is saved again, and what is still read of it stays as long.
    @Test func whatIsReadIsHeld() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let old = travelling.names
        do {
            let app = try TravellingApp(nil)
            try await app.manager.restoreState(from: travelling.state(), version: "1")
            let other = try TravellingApp(Self.sizes, seed: 1)
            for isSave in [true, false] {
                let error = await #expect(throws: PressureError.self) {
                    if isSave {
                        try await other.manager.saveState(to: travelling.state(), version: "1")
                    } else {
                        try await other.manager.restoreState(from: travelling.state(), version: "1")
                    }
                }
                #expect(error?.code == .stateDirectoryInUse)
                #expect(error?.message.contains("process \(getpid()) on \(RedisStateOwner.hostName)") == true)
            }
            // A value that is not in the new state is still read from the old one.
            app.caches[0].isRestorable = false
            try await app.manager.saveState(to: travelling.state(), version: "1")
            #expect(Set(travelling.names).isDisjoint(with: old))
            try await other.manager.saveState(to: travelling.state(), version: "1")
            try await app.expect(Self.sizes)
            #expect(Set(server.keyNames).isSuperset(of: old))
            for name in old { #expect(try #require(server.run("PTTL", name).flatMap { Int($0) }) <= 60_000) }
            try await travelling.expect(Self.sizes, seed: 1)
        }
        TestServer.waitUntil { travelling.isAlone }
    }

    /// The thread that renews works for what is read, too.
    @Test func whatIsReadOutlivesItsTime() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        var remote = server.remote()
        remote.lease = .seconds(1)
        let app = try TravellingApp(nil)
        try await app.manager.restoreState(from: travelling.state(by: remote), version: "1")
        for name in travelling.names + [travelling.keys.lock] { server.run("PEXPIRE", name, "60000") }
        // It has the rest of its day again; the lock has its second.
        for name in travelling.names {
            TestServer.waitUntil { server.run("PTTL", name).flatMap { Int($0) } ?? 0 > 60_000 }
        }
        TestServer.waitUntil { server.run("PTTL", travelling.keys.lock).flatMap { Int($0) } ?? .max <= 1000 }
        try await app.expect(Self.sizes)
    }

    @Test(arguments: [2, 4]) func onlyOneRestoresItAtATime(count: Int) async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let apps = try (0..<count).map { _ in try TravellingApp(nil) }
        let codes = await withTaskGroup(of: PressureError.Code?.self) { group in
            for app in apps {
                group.addTask {
                    do throws(PressureError) {
                        try await app.manager.restoreState(from: travelling.state(), version: "1")
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 1, "the first has it as long as its values are there")
        #expect(codes.allSatisfy { $0 == nil || $0 == .stateDirectoryInUse })
        #expect(apps.filter(\.isUntouched).count == count - 1)
        for app in apps where !app.isUntouched { try await app.expect(Self.sizes) }
    }

    @Test func anotherVersionIsRefusedAndLetGo() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let app = try TravellingApp(nil)
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.restoreState(from: travelling.state(), version: "2")
        }
        #expect(error?.code == .stateRefused && error?.message.contains("version \"1\"") == true)
        #expect(error?.message.contains("\"app\" on Redis at \(server.socket)") == true)
        #expect(app.isUntouched)
        travelling.waitUntilLetGo()
        try await travelling.expect(Self.sizes)
    }

    @Test func whatIsRemovedIsGoneAndWhatIsReadStays() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        do {
            let app = try TravellingApp(nil)
            try await app.manager.restoreState(from: travelling.state(), version: "1")
            #expect(try await app.manager.removeState(travelling.state()))
            #expect(try await app.manager.restoreState(from: travelling.state(), version: "1").isFound == false)
            try await app.expect(Self.sizes)
        }
        TestServer.waitUntil { server.keyNames.isEmpty }
        try await travelling.save(Self.sizes)
        #expect(try await TravellingApp(nil).manager.removeState(travelling.state()))
        #expect(server.keyNames.isEmpty)
    }

    @Test func aStateThatCannotBeIsRefused() async throws {
        let app = try TravellingApp([1, 1, 1])
        let server = RemoteSpill.redis(socketPath: "/nonexistent")
        let mistakes = [
            RemoteState("", on: server), RemoteState("a b", on: server), RemoteState("a{b", on: server),
            RemoteState(String(repeating: "x", count: 201), on: server),
            RemoteState("a", on: server, lifetime: .milliseconds(1)), RemoteState("a", on: .redis(host: "")),
        ]
        for state in mistakes {
            let save = await #expect(throws: PressureError.self) { try await app.manager.saveState(to: state) }
            let restore = await #expect(throws: PressureError.self) { try await app.manager.restoreState(from: state) }
            #expect(save?.code == .invalidConfiguration && restore?.code == .invalidConfiguration)
        }
        let state = RemoteState("a", on: .redis(host: "h", user: "u", password: "secret"))
        #expect("\(state) \(String(reflecting: state))".contains("secret") == false)
    }
}
#endif
