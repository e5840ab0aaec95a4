#if Redis
import CTestShims
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// Bytes that are not those that were written, processes that end without a word, and who may do what.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteStateDamageTests {
    private static let sizes = [1_500_000, 5000, 700_000]

    // MARK: Damage

    private func expectRefused(_ travelling: TravellingState, _ what: String) async throws {
        let app = try TravellingApp(nil)
        let error = await #expect(throws: PressureError.self, "\(what)") {
            try await app.manager.restoreState(from: travelling.state(), version: "1")
        }
        #expect(error?.code == .stateRefused, "\(what): \(String(describing: error))")
        #expect(app.isUntouched, "\(what)")
        travelling.waitUntilLetGo()
    }

    /// One bit anywhere, a string that is missing, cut or longer, a record of somebody else.
    @Test func aDamagedStateIsRefusedWhole() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let names = travelling.names
        var random = SeededGenerator(seed: 5)
        let connection = try server.connect()
        for round in 0..<40 {
            let name = names[Int.random(in: 0..<names.count, using: &random)]
            let bytes = try server.contents(of: name)
            // What lies behind a value's last frame, and before the manifest, belongs to nothing.
            let place = name == names.last ? bytes.count - 1 - round : Int.random(in: 0..<400_000, using: &random)
            func put(_ byte: UInt8) throws {
                try connection.append(["SETRANGE", name, "\(place)"], bytes: [byte][...])
                try connection.exchange { _, _ in }
            }
            try put(bytes[place] ^ 1 << UInt8.random(in: 0..<8, using: &random))
            try await expectRefused(travelling, "byte \(place) of \(name)")
            try put(bytes[place])
        }
        let found = server.run("HMGET", travelling.keys.record, "generation", "bytes")?.split(separator: "\n") ?? []
        let fields = ["generation": String(found[0]), "bytes": String(found[1])]
        let bytes = try #require(Int(fields["bytes"]!))
        for (field, value) in [
            ("generation", "another"), ("bytes", "0"), ("bytes", "-1"), ("bytes", "many"), ("bytes", "\(bytes - 1)"),
            ("bytes", "\(bytes + 1)"), ("bytes", "\(bytes + 5_000_000)"), ("bytes", "\(1 << 40)"),
            ("bytes", "\(Int.max)"),
        ] {
            server.run("HSET", travelling.keys.record, field, value)
            try await expectRefused(travelling, "\(field) \(value)")
            server.run("HSET", travelling.keys.record, field, fields[field]!)
        }
        try await travelling.expect(Self.sizes)
        for name in names {
            server.run("COPY", name, "aside")
            server.run("SETRANGE", name, server.run("STRLEN", name)!, "x")
            try await expectRefused(travelling, "\(name), longer")
            server.run("DEL", name)
            try await expectRefused(travelling, "\(name), missing")
            server.run("RENAME", "aside", name)
        }
        try await travelling.expect(Self.sizes)
    }

    /// Of what was restored and is read later.
    @Test func whatTheServerHasLostIsAnErrorThatSaysSo() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let app = try TravellingApp(nil)
        try await app.manager.restoreState(from: travelling.state(), version: "1")
        server.run("FLUSHALL")
        let error = await #expect(throws: PressureError.self) { try await app.caches[0].value() }
        #expect(error?.code == .damagedCopy && error?.path == "first/value")
        #expect(error?.message.contains("Redis at \(server.socket)") == true)
        // What cannot be read is left out of the next state, and said.
        let report = try await app.manager.saveState(to: travelling.state(), version: "2")
        #expect(report.failures.count == 3 && report.caches == [], "\(report)")
    }

    // MARK: Processes that are killed

    @Test func killedAfterTheSaveItIsRestoredAtOnce() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        let socket = server.socket
        await #expect(processExitsWith: .signal(SIGKILL)) { [socket = socket as String] in
            let app = try TravellingApp(Self.sizes)
            try await app.manager.saveState(to: RemoteState("app", on: .redis(socketPath: socket)), version: "1")
            kill(getpid(), SIGKILL)
        }
        #expect(travelling.isAlone)
        try await travelling.expect(Self.sizes)
    }

    @Test func killedInMidSaveItLeavesWhatWasSavedBefore() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let old = travelling.names
        let socket = server.socket
        await #expect(processExitsWith: .signal(SIGKILL)) { [socket = socket as String] in
            var remote = RemoteSpill.redis(socketPath: socket)
            remote.lease = .seconds(20)
            let app = try TravellingApp([6_000_000, 5000, 1], seed: 1)
            app.inMidSave { kill(getpid(), SIGKILL) }
            try await app.manager.saveState(to: RemoteState("app", on: remote), version: "1")
        }
        #expect(travelling.names == old && server.keyNames.count > old.count + 4)
        // Nobody can know yet that it has ended; the error says who it was, and for how long.
        let app = try TravellingApp(nil)
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.restoreState(from: travelling.state(), version: "1")
        }
        #expect(
            error?.code == .stateDirectoryInUse && error?.message.contains(" s more") == true,
            "\(String(describing: error))"
        )
        #expect(error?.message.contains("process \(getpid()) ") == false && app.isUntouched)
        // Within the lease all that it left goes by itself.
        travelling.waitUntilLetGo()
        try await app.manager.restoreState(from: travelling.state(), version: "1")
        try await app.expect(Self.sizes)
        TestServer.waitUntil { Set(server.keyNames) == Set(old + [travelling.keys.record, travelling.keys.lock]) }
    }

    /// An orderly end leaves the state, and lets it go.
    @Test func aProcessThatExitsLetsItGo() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let socket = server.socket
        await #expect(processExitsWith: .exitCode(7)) { [socket = socket as String] in
            var remote = RemoteSpill.redis(socketPath: socket)
            remote.lease = .seconds(86_400)
            let app = try TravellingApp(nil)
            try await app.manager.restoreState(from: RemoteState("app", on: remote), version: "1")
            withExtendedLifetime(app) { exit(7) }
        }
        #expect(travelling.isAlone)
        try await travelling.expect(Self.sizes)
    }

    /// A child of fork(2) may read, on a connection of its own, and ends nothing.
    @Test func aChildReadsAndEndsNothing() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let socket = server.socket
        await #expect(processExitsWith: .success) { [socket = socket as String] in
            let server = RedisServer(endpoints: [.unix(path: socket)])
            let state = RedisState("app", RedisSpaceOptions(server: server), owner: RedisStateOwner())
            try state.begin()
            let file = try #require(try state.open())
            file.expectRandomReads(0)
            func read() -> [UInt8]? {
                var bytes = [UInt8](repeating: 0, count: 100_000)
                let count = try? unsafe bytes.withUnsafeMutableBytes { bytes in
                    let nothing = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
                    return try unsafe file.readFully(0, at: 1_000_000, into: bytes, nothing)
                }
                return count == bytes.count ? bytes : nil
            }
            let bytes = try #require(read())
            let child = pk_fork()
            if child == 0 {
                for _ in 0..<50 { guard let found = read(), isSame(found, bytes) else { _exit(1) } }
                file.close(0)
                exit(0)
            }
            for _ in 0..<50 { guard let found = read(), isSame(found, bytes) else { exit(3) } }
            var status: CInt = 0
            _ = unsafe waitpid(child, &status, 0)
            guard status == 0 else { exit(4) }
            try state.confirm()
        }
        #expect(travelling.isAlone)
    }

    // MARK: Who may

    /// What the article says a user needs.
    static let permissions = [
        "~pk:state:*", "+multi", "+exec", "+watch", "+unwatch", "+get", "+set", "+psetex", "+getrange", "+pexpire",
        "+pttl",
        "+unlink", "+hset", "+hmget", "+time", "+info",
    ]

    @Test func whatTheArticleSaysIsEnough() async throws {
        let server = try TestServer()
        let connection = try server.connect()
        let user = ["ACL", "SETUSER", "saver", "reset", "on", ">secret"]
        #expect(try connection.ask(user + Self.permissions).text == "OK")
        let state = RemoteState("app", on: server.remote(user: "saver", password: "secret"))
        do {
            let app = try TravellingApp(Self.sizes)
            for _ in 0..<2 { try await app.manager.saveState(to: state, version: "1") }
            try await app.manager.restoreState(from: state, version: "1")
            try await app.expect(Self.sizes)
            try await app.manager.saveState(to: state, version: "1")
            #expect(try await app.manager.removeState(state))
        }
        TestServer.waitUntil { server.keyNames.isEmpty }
        #expect(try server.denials() == 0)
        // Who may less is told, and has left nothing.
        #expect(try connection.ask(user + Self.permissions.filter { $0 != "+psetex" }).text == "OK")
        let app = try TravellingApp(Self.sizes)
        let error = await #expect(throws: PressureError.self) { try await app.manager.saveState(to: state) }
        #expect(error?.code == .stateNotSaved && error?.message.contains("ACL") == true, "\(String(describing: error))")
        #expect(error?.message.contains("secret") == false)
        travelling(server).waitUntilLetGo()
        #expect(server.keyNames.isEmpty)
    }

    private func travelling(_ server: TestServer) -> TravellingState { TravellingState(server) }
}
#endif
