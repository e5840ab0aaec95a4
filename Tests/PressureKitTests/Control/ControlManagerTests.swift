import CLinuxShims
import Foundation
import Glibc
import Logging
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The whole way from a socket to memory and back, in a manager that runs.
@Suite(.timeLimit(.minutes(5))) struct ControlManagerTests {
    /// A manager that listens in a directory of its own, with a cache of text that no answer may hold.
    private final class App {
        static let secret = "the quick brown fox"
        let directory = SocketDirectory()
        let manager: PressureManager
        let cache: LazyCache<[UInt8]>
        let keyed: KeyedCache<String, [UInt8]>
        private let running: Task<Void, any Error>

        init(_ control: ControlSocket? = nil, environment: [String: String] = [:]) throws {
            let path = directory.file("s")
            manager = try makeManager(fileSystem: InMemoryFileSystem()) {
                $0.control = control ?? .path(path)
                $0.environment = environment
            }
            let controller = try addController("gallery", to: manager.root)
            let text = Array(String(repeating: Self.secret, count: 5000).utf8)
            cache = try controller.cache("thumbnails", initialValue: text)
            keyed = try controller.keyedCache("by name") { (_: String) in text }
            _ = try keyed.value(for: Self.secret)
            let manager = manager
            running = Task { try await manager.run() }
        }

        deinit {
            running.cancel()
            directory.remove()
        }

        /// Waits until it listens.
        func caller(_ path: String? = nil) async throws -> SocketCaller {
            try await SocketCaller(waitingFor: path ?? directory.file("s"))
        }

        func end() async throws {
            running.cancel()
            try await running.value
        }

        func ask(_ command: String, _ caller: SocketCaller) async throws -> [String: Any] {
            caller.say("\(command)\n")
            let descriptor = caller.descriptor
            // Not on a cooperative thread: the answer may need one.
            let text = try await BlockingPool.shared.run { try SocketCaller.answer(on: descriptor) }
            #expect(!text.contains(Self.secret))
            return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }
    }

    @Test func aWarningFreesMemoryAndTellsWhatItFreed() async throws {
        let app = try App()
        let caller = try await app.caller()
        let events = app.manager.events
        let answer = try await app.ask("warn critical", caller)
        #expect(answer["ok"] as? Bool == true)
        let report = try #require(answer["report"] as? [String: Any])
        #expect(report["evicted"] as? Int == 2)
        #expect((report["claimed_bytes"] as? Int ?? 0) >= 95_000)
        #expect((report["cause"] as? String)?.contains("control socket") == true)
        #expect(app.cache.residency == .spilled)
        for await event in events {
            guard case .memoryWarning(let warning) = event else { continue }
            #expect(warning.level == .critical)
            break
        }
        try await app.end()
    }

    @Test func bytesBackgroundAndForegroundDoWhatTheirMethodsDo() async throws {
        let app = try App()
        let caller = try await app.caller()
        app.manager.root.children[0].appear()
        let evicted = try await app.ask("evict 1", caller)
        #expect((evicted["report"] as? [String: Any])?["evicted"] as? Int == 1)
        #expect((evicted["report"] as? [String: Any])?["goal_bytes"] as? Int == 1)
        _ = try await app.cache.value()
        _ = try await app.ask("background", caller)
        #expect(app.manager.isInBackground)
        #expect(app.cache.residency == .spilled)
        let status = try await app.ask("status", caller)["status"] as? [String: Any]
        #expect(status?["background"] as? Bool == true)
        let restored = try await app.ask("foreground", caller)
        #expect(((restored["report"] as? [String: Any])?["restored"] as? Int ?? 0) >= 1)
        #expect(!app.manager.isInBackground)
        #expect(app.cache.residency == .resident)
        try await app.end()
    }

    @Test func theStatusHasWhatAnOperatorAsksFor() async throws {
        let app = try App()
        let caller = try await app.caller()
        _ = try await app.ask("warn critical", caller)
        let answer = try await app.ask("status", caller)
        let status = try #require(answer["status"] as? [String: Any])
        #expect(status["process"] as? Int == Int(getpid()))
        #expect(status["level"] as? String == "normal")
        #expect((status["cause"] as? String)?.contains("control socket") == true)
        #expect((status["bytes"] as? [String: Int])?["resident"] == 0)
        #expect((status["counts"] as? [String: Int])?["evictions"] == 2)
        let controllers = try #require(status["controllers"] as? [[String: Any]])
        #expect(controllers.map { $0["path"] as? String } == ["", "gallery"])
        let caches = try #require(controllers[1]["caches"] as? [[String: Any]])
        #expect(caches.map { $0["path"] as? String } == ["gallery/thumbnails", "gallery/by name"])
        #expect(caches[0]["residency"] as? String == "spilled")
        try await app.end()
    }

    /// A reclaim that does not end does not keep anybody from asking how things stand.
    @Test func aLongCommandHoldsNobodyUp() async throws {
        let app = try App()
        let (patient, curious) = (try await app.caller(), try await app.caller())
        let gate = DispatchSemaphore(value: 0)
        let delegate = Blocker(gate)
        app.manager.delegate = delegate
        patient.say("warn critical\n")
        await delegate.waitUntilCalled()
        let status = try await app.ask("status", curious)
        #expect(status["ok"] as? Bool == true)
        #expect(patient.hear() == .nothing)
        gate.signal()
        let descriptor = patient.descriptor
        let text = try await BlockingPool.shared.run { try SocketCaller.answer(on: descriptor) }
        #expect(text.contains("\"evicted\":2"))
        withExtendedLifetime(delegate) {}
        try await app.end()
    }

    @Test func theSocketIsThereWhileTheManagerRunsAndNotLonger() async throws {
        let app = try App()
        let caller = try await app.caller()
        try await app.end()
        #expect(!SocketDirectory.exists(app.directory.file("s")))
        #expect(caller.hear() == .end)
        // And again.
        let manager = app.manager
        let running = Task { try await manager.run() }
        _ = try await app.caller()
        await manager.shutdown()
        #expect(!SocketDirectory.exists(app.directory.file("s")))
        running.cancel()
        try await running.value
    }

    @Test func theEnvironmentMayAskForIt() async throws {
        let place = SocketDirectory()
        defer { place.remove() }
        let app = try App(.environment, environment: ["PRESSUREKIT_CONTROL": "1", "XDG_RUNTIME_DIR": place.path])
        let caller = try await app.caller(place.file("pressurekit/\(getpid()).sock"))
        #expect(try await app.ask("status", caller)["ok"] as? Bool == true)
        try await app.end()
    }

    @Test func aSocketThatTheAppAsksForAndCannotHaveIsAnError() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.control = .path("/no/such/directory/s") }
        let error = await #expect(throws: PressureError.self) { try await manager.run() }
        #expect(error?.code == .controlUnavailable)
    }

    /// Two managers in one process, or a child that inherits its parent's environment: the second watches all the same.
    @Test func oneThatTheEnvironmentAsksForIsNotWorthEndingFor() async throws {
        let place = SocketDirectory()
        defer { place.remove() }
        let environment = ["PRESSUREKIT_CONTROL": place.file("both")]
        let first = try App(.environment, environment: environment)
        let caller = try await first.caller(place.file("both"))
        let source = SimulatedSource(level: .warning)
        let second = try makeManager(fileSystem: InMemoryFileSystem()) {
            $0.environment = environment
            $0.sources = [.simulated(source)]
        }
        let events = second.events
        let running = Task { try await second.run() }
        for await event in events {
            if case .levelChanged = event { break }
        }
        running.cancel()
        try await running.value
        #expect(try await first.ask("status", caller)["ok"] as? Bool == true)
        try await first.end()
    }
}

/// A delegate that holds a reclaim up until it is told to go on.
private final class Blocker: PressureManagerDelegate {
    private let gate: DispatchSemaphore
    private let calls = AsyncStream<Void>.makeStream()

    init(_ gate: DispatchSemaphore) { self.gate = gate }

    func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) {
        calls.continuation.yield()
        gate.wait()
    }

    func waitUntilCalled() async {
        for await _ in calls.stream { return }
    }
}
