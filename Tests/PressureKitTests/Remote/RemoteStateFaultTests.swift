#if Redis
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// Everything that a server and the way to it can do to a save or a restoration: what was saved before is there, whole, or
/// what is saved now; nothing is half restored, and the error says what is wrong.
@Suite(.enabled(if: TestServer.isInstalled), .timeLimit(.minutes(5))) struct RemoteStateFaultTests {
    private typealias Fault = RemoteFaultTests.Fault

    /// Longer than one request, so that some of it is on the server in mid-save.
    private static let sizes = [6_000_000, 5000, 1_500_000]
    private static let small = [200_000, 5000, 1_000_000]

    // MARK: The table

    @Test(arguments: RemoteFaultTests.Fault.allCases)
    func aSaveThatFailsLeavesWhatWasSavedBefore(_ fault: RemoteFaultTests.Fault) async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let (old, before) = (travelling.names, server.keyNames.count)
        var remote = proxy.remote
        remote.commandTimeout = .seconds(1)
        let app = try TravellingApp(Self.sizes, seed: 1)
        let seen = Shared(0)
        app.inMidSave { [remote] in
            _ = remote
            seen.change { $0 = server.keyNames.count }
            fault.begin(server, proxy)
        }
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: travelling.state(by: remote), version: "1")
        }
        // The lock and the first request.
        #expect(seen.value >= before + 5, "it was in mid-save")
        #expect(
            error?.code == .stateNotSaved && error?.message.contains(proxy.socket) == true,
            "\(String(describing: error))"
        )
        let words = [fault.word] + (fault == .killed || fault == .refused ? ["closed the connection"] : [])
        #expect(words.contains { error?.message.contains($0) == true }, "\(String(describing: error))")
        app.inMidSave {}
        try fault.end(server, proxy)
        if fault.keeps {
            #expect(travelling.names == old)
            travelling.endLease()
            try await travelling.expect(Self.sizes)
        } else {
            let other = try TravellingApp(nil)
            #expect(try await other.manager.restoreState(from: travelling.state(), version: "1").isFound == false)
        }
        travelling.waitUntilLetGo()
        // And when the server is well again, it is saved.
        try await app.manager.saveState(to: travelling.state(by: remote), version: "1")
        try await travelling.expect(Self.sizes, seed: 1)
    }

    @Test(arguments: RemoteFaultTests.Fault.allCases)
    func aRestorationThatFailsChangesNothing(_ fault: RemoteFaultTests.Fault) async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        var remote = [.killed, .stopped].contains(fault) ? server.remote() : proxy.remote
        remote.commandTimeout = .seconds(1)
        let state = RemoteState("app", on: remote)
        let app = try TravellingApp(nil)
        fault.begin(server, proxy)
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.restoreState(from: state, version: "1")
        }
        #expect(error?.code == .serverUnusable, "\(String(describing: error))")
        // A full server refuses the lock with the word that it refuses everything with.
        let word = fault == .full ? "is full" : fault.word
        #expect(error?.message.contains(word) == true, "\(String(describing: error))")
        #expect(app.isUntouched)
        try fault.end(server, proxy)
        guard fault.keeps else { return }
        try await app.manager.restoreState(from: state, version: "1")
        try await app.expect(Self.sizes)
    }

    // MARK: Cut off anywhere

    /// After each piece of an answer, and before each piece of a request, in turn, all connections are cut: the state is the
    /// old one or the new.
    @Test(arguments: [true, false]) func cutOffAnywhereItIsTheOldStateOrTheNew(cutsAnswers: Bool) async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        let travelling = TravellingState(server)
        try await travelling.save(Self.small)
        var outcomes: Set<String> = []
        var (number, again) = (0, -1)
        while true {
            let seed = UInt64(number + 1)
            let app = try TravellingApp(Self.small, seed: seed)
            let old = travelling.names
            proxy.set(cutsAnswers ? .cutAnswers(number) : .cutRequests(number))
            let broken = proxy.broken
            let error: PressureError?
            do throws(PressureError) {
                try await app.manager.saveState(to: travelling.state(by: proxy.remote), version: "1")
                error = nil
            } catch let failure {
                error = failure
            }
            let wasStruck = proxy.broken > broken
            proxy.set(.pass)
            travelling.endLease()
            // What the one before had sent may have come after its lease was ended: once.
            if error?.code == .stateDirectoryInUse, again != number {
                again = number
                continue
            }
            let isNew = travelling.names != old
            if let error {
                outcomes.insert(isNew ? "new, not known" : "old")
                #expect([.stateNotSaved, .serverUnusable].contains(error.code), "\(error)")
                #expect(!isNew || error.message.contains("not known"), "\(number): \(error)")
            } else {
                outcomes.insert("new")
                #expect(isNew, "\(number)")
            }
            let other = try TravellingApp(nil)
            try await other.manager.restoreState(from: travelling.state(), version: "1")
            #expect(other.restorations.value > 0)
            if isNew {
                try await other.expect(Self.small, seed: seed)
                if !wasStruck { break }
                // Back to one that differs from the next.
                try await other.manager.saveState(to: travelling.state(), version: "1")
            }
            number += 1
        }
        #expect(outcomes.isSuperset(of: ["old", "new"]), "\(outcomes)")
        #expect(number > 10)
    }

    /// The step that makes a state the current one is under way when its saver gives up: it comes to nothing later.
    @Test func whatArrivesLateChangesNothing() async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        let travelling = TravellingState(server)
        try await travelling.save(Self.small)
        let old = travelling.names
        var remote = proxy.remote
        remote.commandTimeout = .seconds(1)
        let app = try TravellingApp(Self.small, seed: 1)
        // So is what lets the lock go, later.
        proxy.set(.holdWord("MULTI"))
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: travelling.state(by: remote), version: "1")
        }
        #expect(
            error?.code == .stateNotSaved && error?.message.contains("not touched") == true,
            "\(String(describing: error))"
        )
        #expect(proxy.broken >= 1 && travelling.names == old)
        proxy.set(.pass)
        let steps = Self.count("cmdstat_exec:", server)
        proxy.letGo(1)
        // It has arrived.
        TestServer.waitUntil { Self.count("cmdstat_exec:", server) > steps }
        #expect(travelling.names == old)
        proxy.letGo()
        travelling.waitUntilLetGo()
        try await travelling.expect(Self.small)
    }

    /// How often a command was given.
    private static func count(_ name: String, _ server: TestServer) -> Int {
        let lines = server.run("INFO", "commandstats")?.split(whereSeparator: \.isNewline)
        let line = lines?.first { $0.hasPrefix(name) }
        return line?.split(separator: "=")[1].split(separator: ",").first.flatMap { Int($0) } ?? 0
    }

    // MARK: What others do in mid-save

    /// An emptied server, a lock that was lost to somebody: found before the step that counts.
    @Test(arguments: ["emptied", "lost", "taken"]) func whatIsLostInMidSaveIsFound(_ what: String) async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.sizes)
        let old = travelling.names
        let app = try TravellingApp(Self.sizes, seed: 1)
        app.inMidSave {
            switch what {
            case "emptied": server.run("FLUSHALL")
            case "lost": travelling.endLease()
            default: server.run("SET", travelling.keys.lock, "elsewhere 7 x", "PX", "600000")
            }
        }
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: travelling.state(), version: "1")
        }
        #expect(error?.code == .stateNotSaved, "\(String(describing: error))")
        #expect(error?.message.contains(what == "emptied" ? "does not have what was" : "is not any more") == true)
        #expect(travelling.names == (what == "emptied" ? [] : old))
        if what == "taken" {
            #expect(server.run("GET", travelling.keys.lock) == "elsewhere 7 x", "it is theirs")
            let other = await #expect(throws: PressureError.self) {
                try await app.manager.restoreState(from: travelling.state(), version: "1")
            }
            #expect(other?.code == .stateDirectoryInUse)
            #expect(other?.message.contains("process 7 on elsewhere") == true, "\(String(describing: other))")
        }
    }

    private final class Asked: PressureManagerDelegate {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }

        func shouldRestoreState(savedBy saved: String, version: String) -> Bool {
            body()
            return true
        }
    }

    /// Whoever could not be heard while it checked the state restores none of it.
    @Test func whoLosesTheLockWhileRestoringRestoresNothing() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.small)
        let app = try TravellingApp(nil)
        let delegate = Asked { server.run("SET", travelling.keys.lock, "elsewhere 7 x", "PX", "600000") }
        app.manager.delegate = delegate
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.restoreState(from: travelling.state(), version: "1")
        }
        #expect(error?.code == .stateDirectoryInUse && app.isUntouched)
        #expect(server.run("GET", travelling.keys.lock) == "elsewhere 7 x")
        app.manager.delegate = nil
        travelling.endLease()
        try await app.manager.restoreState(from: travelling.state(), version: "1")
        try await app.expect(Self.small)
    }

    /// A server, or a way to it, that changes what it is given.
    @Test func whatDoesNotReadBackIsNotSaved() async throws {
        let server = try TestServer()
        let proxy = try BreakingProxy(to: server)
        defer { proxy.close() }
        let travelling = TravellingState(server)
        try await travelling.save(Self.small)
        let old = travelling.names
        let app = try TravellingApp(Self.small, seed: 1)
        app.inMidSave { proxy.set(.falsify) }
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: travelling.state(by: proxy.remote), version: "1")
        }
        #expect(error?.code == .stateNotSaved && error?.message.contains("does not have what was written") == true)
        #expect(travelling.names == old && travelling.isAlone && proxy.broken == 1)
        try await travelling.expect(Self.small)
    }

    @Test func aServerThatMayEvictIsRefused() async throws {
        let server = try TestServer()
        let travelling = TravellingState(server)
        try await travelling.save(Self.small)
        let before = Set(server.keyNames)
        server.run("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
        let app = try TravellingApp(Self.small, seed: 1)
        for isSave in [true, false] {
            let error = await #expect(throws: PressureError.self) {
                if isSave {
                    try await app.manager.saveState(to: travelling.state(), version: "1")
                } else {
                    try await app.manager.restoreState(from: travelling.state(), version: "1")
                }
            }
            #expect(error?.code == .serverUnusable && error?.message.contains("noeviction") == true)
        }
        #expect(Set(server.keyNames) == before)
        // It is asked again before the step that counts.
        server.run("CONFIG", "SET", "maxmemory-policy", "noeviction")
        app.inMidSave { server.run("CONFIG", "SET", "maxmemory-policy", "allkeys-lru") }
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: travelling.state(), version: "1")
        }
        #expect(error?.code == .stateNotSaved && error?.message.contains("noeviction") == true)
        #expect(Set(server.keyNames) == before)
        server.run("CONFIG", "SET", "maxmemory-policy", "noeviction")
        try await travelling.expect(Self.small)
    }
}
#endif
