#if Redis
import PressureKitTestSupport
import PressureKitTesting
import PressureSystem
import Testing

@testable import PressureKit
@testable import SpillStore

/// An app on a machine of its own, that is with a disk of its own, in memory: three controllers with a value each. Something
/// may happen when the second is saved, between the values of the first and of the third.
final class TravellingApp: PressureControllerDelegate {
    static let version = "1"
    let manager: PressureManager
    private let controllers: [PressureController]
    let caches: [LazyCache<[UInt8]>]
    private let between = Shared<(@Sendable () -> Void)?>(nil)
    /// How often something was restored.
    let restorations = Shared(0)

    /// - Parameter sizes: of the values; `nil` for caches that wait for theirs.
    init(_ sizes: [Int]?, seed: UInt64 = 0) throws {
        manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.compression = .stored }
        let root = manager.root
        controllers = try ["first", "second", "third"].map { try addController($0, to: root) }
        caches = try controllers.enumerated().map { index, controller in
            guard let sizes else { return try controller.cache("value", of: [UInt8].self) }
            return try controller.cache("value", initialValue: Self.bytes(sizes[index], seed, index))
        }
        controllers[1].delegate = self
    }

    static func bytes(_ size: Int, _ seed: UInt64, _ index: Int) -> [UInt8] {
        makeBytes(size, seed: seed * 10 + UInt64(index), randomBits: 8)
    }

    /// What happens in mid-save.
    func inMidSave(_ body: @escaping @Sendable () -> Void) { between.change { $0 = body } }

    func encodeRestorableState(into coder: inout StateCoder) { between.value?() }

    func didFinishRestoringState() { restorations.change { $0 += 1 } }

    /// Whether nothing was restored.
    var isUntouched: Bool { restorations.value == 0 && caches.allSatisfy { $0.residency == .unloaded } }

    /// Every value is the one that was saved.
    func expect(_ sizes: [Int], seed: UInt64 = 0) async throws {
        for (index, cache) in caches.enumerated() {
            #expect(isSame(try await cache.value(), Self.bytes(sizes[index], seed, index)), "value \(index)")
        }
    }
}

/// A state on a server of a test's own.
struct TravellingState {
    let server: TestServer
    let keys = RedisStateKeys(prefix: "pk", name: "app")

    init(_ server: TestServer) { self.server = server }

    /// By the server's own socket, unless there is another way to it.
    func state(by remote: RemoteSpill? = nil, lifetime: Duration = .seconds(86_400)) -> RemoteState {
        var remote = remote ?? server.remote()
        if remote.commandTimeout == .seconds(2) { remote.commandTimeout = .seconds(10) }
        return RemoteState("app", on: remote, lifetime: lifetime)
    }

    /// The names of the strings that are the state, by what its record says.
    var names: [String] {
        let found = server.run("HMGET", keys.record, "generation", "bytes")?.split(separator: "\n").map(String.init)
        guard let found, found.count == 2, let bytes = Int(found[1]) else { return [] }
        let count = (bytes + RedisStateRecord.segmentLength - 1) / RedisStateRecord.segmentLength
        return keys.segments(of: found[0], count: count)
    }

    /// Whether there is nothing but the record and what it names.
    var isAlone: Bool { Set(server.keyNames) == Set(names + (names.isEmpty ? [] : [keys.record])) }

    func save(_ sizes: [Int], seed: UInt64 = 0, version: String = TravellingApp.version) async throws {
        let app = try TravellingApp(sizes, seed: seed)
        try await app.manager.saveState(to: state(), version: version)
    }

    /// What was saved is there, whole, and can be had.
    func expect(_ sizes: [Int], seed: UInt64 = 0) async throws {
        let app = try TravellingApp(nil)
        let report = try await app.manager.restoreState(from: state(), version: TravellingApp.version)
        #expect(report.isFound && report.failures.isEmpty)
        try await app.expect(sizes, seed: seed)
    }

    /// Nobody could be heard for longer than the lease.
    func endLease() { server.run("DEL", keys.lock) }

    func waitUntilLetGo() { TestServer.waitUntil { server.run("EXISTS", keys.lock) == "0" } }
}
#endif
