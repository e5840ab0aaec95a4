import InMemoryLogging
import Logging
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A manager that nobody runs. With a limit of 16 MiB, a quarter of which is four values.
@Suite(.timeLimit(.minutes(5))) struct AttendanceTests {
    private let log: InMemoryLogHandler
    private let manager: PressureManager
    private let tiles: KeyedCache<Int, [UInt8]>
    private let root: FakeRoot

    init() throws {
        (log, manager, tiles, root) = try Self.make()
    }

    private static func make(
        isSequential: Bool = false
    ) throws -> (InMemoryLogHandler, PressureManager, KeyedCache<Int, [UInt8]>, FakeRoot) {
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.makeUnified("/app", current: 1 << 20, max: "\(16 << 20)")
        let log = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in log }
        logger.logLevel = .warning
        var configuration = PressureConfiguration()
        configuration.sources = [.simulated(SimulatedSource(level: .critical))]
        configuration.spillDirectory = "/var/tmp"
        configuration.freeSpaceFloor = .zero
        configuration.fileSystem = InMemoryFileSystem()
        configuration.limits = root.context
        configuration.isSequential = isSequential
        let manager = try PressureManager(configuration: configuration, logger: logger)
        let controller = try addController("app", to: manager.root)
        let tiles = try controller.keyedCache("tiles") { (key: Int) in [UInt8](repeating: UInt8(key), count: 1 << 20) }
        return (log, manager, tiles, root)
    }

    private var messages: [String] { log.entries.map { "\($0.message)" } }

    /// What was submitted before it has run when this has.
    private func settle() async throws {
        for _ in 0..<4 { try await BlockingPool.errands.run {} }
    }

    @Test func watchesOnceItsCachesFill() async throws {
        for key in 0..<5 { try tiles.withValue(for: key) { _ in } }
        try await settle()
        #expect(messages.isEmpty)
        #expect(manager.level == .normal)
        // More than a quarter of the limit is there before this one.
        try tiles.withValue(for: 5) { _ in }
        while manager.level != .critical { await Task.yield() }
        for key in 6..<20 { try tiles.withValue(for: key) { _ in } }
        try await settle()
        #expect(messages == ["nobody runs the manager"])
        #expect(log.entries.first?.metadata["pressurekit.resident_bytes"] == "\(5 << 20)")
        withExtendedLifetime(manager) {}
    }

    @Test func doesNotWatchWhatWasStoppedOnPurpose() async throws {
        let running = Task { [manager] in try await manager.run() }
        while manager.level != .critical { await Task.yield() }
        running.cancel()
        try await running.value
        for key in 0..<20 { try tiles.withValue(for: key) { _ in } }
        try await settle()
        #expect(messages.isEmpty)
        #expect(manager.monitor.admissionRoom == nil)
    }

    @Test func doesNotWatchAfterItsEnd() async throws {
        await manager.shutdown()
        for key in 0..<20 { try tiles.withValue(for: key) { _ in } }
        try await settle()
        #expect(messages.isEmpty)
        #expect(manager.level == .normal)
    }

    /// Who drives a manager by hand says when it looks.
    @Test func doesNotWatchWhatIsDriven() async throws {
        let (log, manager, tiles, root) = try Self.make(isSequential: true)
        for key in 0..<20 { try tiles.withValue(for: key) { _ in } }
        try await settle()
        #expect(log.entries.isEmpty)
        #expect(manager.level == .normal)
        withExtendedLifetime(root) {}
    }

    @Test func mayBeRunAfterwards() async throws {
        for key in 0..<6 { try tiles.withValue(for: key) { _ in } }
        while manager.level != .critical { await Task.yield() }
        let running = Task { [manager] in try await manager.run() }
        running.cancel()
        try await running.value
        #expect(manager.monitor.admissionRoom == nil)
    }
}
