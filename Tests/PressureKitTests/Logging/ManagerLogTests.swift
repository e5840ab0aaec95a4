import CAllocationCounter
import InMemoryLogging
import Logging
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// What is logged, at which level and with which keys: dashboards and alerts are built on it.
@Suite(.timeLimit(.minutes(5))) struct ManagerLogTests {
    /// An event and what it must look like.
    struct Row: CustomTestStringConvertible, Sendable {
        var message: String
        var level: Logger.Level
        var keys: Set<String>
        var tell: @Sendable (ManagerLog) -> Void

        var testDescription: String { message }

        init(
            _ message: String,
            _ level: Logger.Level,
            _ keys: Set<String>,
            _ tell: @escaping @Sendable (ManagerLog) -> Void
        ) {
            self.message = message
            self.level = level
            self.keys = keys
            self.tell = tell
        }
    }

    private static let peer = ControlPeer(user: 7, process: 42)
    private static let failure = PressureError(code: .diskFull, message: "secret", path: "app/tiles[secret]", errno: 28)

    private static func cause(_ before: PressureLevel, _ after: PressureLevel) -> PressureCause {
        PressureCause(origin: .memoryInfo, source: "/proc/meminfo", levelBefore: before, levelAfter: after)
    }

    private static func report(_ change: (inout EvictionReport) -> Void = { _ in }) -> EvictionReport {
        var report = EvictionReport(cause: cause(.normal, .warning))
        change(&report)
        return report
    }

    static let rows = [
        Row("memory pressure rose", .notice, ["level", "level_before", "cause"]) {
            $0.changed(cause(.normal, .warning))
        },
        Row("memory pressure fell", .debug, ["level", "level_before", "cause"]) {
            $0.changed(cause(.critical, .warning))
        },
        Row(
            "reclaim finished",
            .debug,
            ["cause", "claimed_bytes", "returned_bytes", "evicted", "skipped", "failures", "duration_ms"]
        ) { $0.reclaimed(report()) },
        Row("values could not be spilled", .warning, ["path", "error", "errno", "failures"]) {
            $0.reclaimed(report { $0.failures = [failure] })
        },
        Row("a hook took too long", .warning, ["path", "hook", "duration_ms"]) { log in
            log.reclaimed(report { $0.unheard = [UnheardListener(path: "app", hook: "h", duration: .seconds(1))] })
        },
        Row("loaders hold all threads", .warning, ["path", "threads", "waiting"]) {
            $0.stuck(at: "app/tiles", threads: 64, waiting: 9)
        },
        Row("a spilled copy could not be used", .warning, ["path", "error", "errno"]) { $0.lost(failure) },
        Row("the spill disk failed late", .warning, ["path", "error", "errno"]) { $0.failedLate(failure) },
        Row("nobody runs the manager", .warning, ["resident_bytes"]) { $0.unattended(with: 1) },
        Row("memory cannot be watched", .warning, ["error", "errno", "path"]) { $0.notWatching(failure) },
        Row("control socket opened", .debug, ["socket"]) { $0.opened("/run/x") },
        Row("control socket unavailable", .warning, ["error", "errno", "path"]) { $0.unavailable(failure) },
        Row("control command", .notice, ["command", "peer_pid", "peer_uid"]) { $0.commanded(.background, by: peer) },
        Row("control caller refused", .warning, ["peer_pid", "peer_uid"]) { $0.remarked(.denied(peer)) },
        Row("control socket is deaf", .warning, []) { $0.remarked(.deaf) },
    ]

    /// A log that is kept, and the clock it goes by.
    private static func keptLog() -> (ManagerLog, InMemoryLogHandler, ManualClock) {
        let (logger, handler) = keptLogger()
        let clock = ManualClock()
        return (ManagerLog(logger, clock: clock), handler, clock)
    }

    private static func keptLogger() -> (Logger, InMemoryLogHandler) {
        var handler = InMemoryLogHandler()
        handler.logLevel = .trace
        let kept = handler
        return (Logger(label: "test") { _ in kept }, kept)
    }

    @Test(arguments: rows) func everyEventHasItsLevelAndKeys(row: Row) throws {
        let (log, handler, _) = Self.keptLog()
        row.tell(log)
        let entry = try #require(handler.entries.last)
        #expect(entry.message.description == row.message)
        #expect(entry.level == row.level)
        #expect(Set(entry.metadata.keys) == Set(row.keys.map { "pressurekit.\($0)" }))
        #expect(!"\(entry.message) \(entry.metadata)".contains("secret"))
    }

    /// A disk that stays full for an hour is a line a minute, and the rest is there for who asks for it.
    @Test func whatIsTrueForLongIsAWarningAMinute() throws {
        let (log, handler, clock) = Self.keptLog()
        for _ in 0..<3600 {
            log.lost(Self.failure)
            clock.advance(by: .seconds(1))
        }
        let warnings = handler.entries.filter { $0.level == .warning }
        #expect(warnings.count == 60)
        #expect(handler.entries.filter { $0.level == .debug }.count == 3540)
        #expect(warnings[0].metadata["pressurekit.held_back"] == nil)
        #expect(warnings[1].metadata["pressurekit.held_back"] == "59")
        // Another kind has its own minute.
        log.remarked(.denied(Self.peer))
        #expect(handler.entries.last?.level == .warning)
    }

    /// The task's logger, with what the app has put on it.
    @Test func aManagerLogsToTheLoggerOfTheTaskThatMadeIt() async throws {
        let (logger, handler) = Self.keptLogger()
        var named = logger
        named[metadataKey: "request"] = "7"
        let manager = try withLogger(named) { _ in try makeManager(fileSystem: InMemoryFileSystem()) }
        _ = try manager.root.cache("value", initialValue: makeBytes(1000, seed: 1))
        let report = await manager.simulateMemoryWarning(.critical)
        let entry = try #require(handler.entries.last)
        #expect(entry.message == "reclaim finished")
        #expect(entry.metadata["request"] == "7")
        #expect(entry.metadata["pressurekit.claimed_bytes"] == "\(report.claimed.bytes)")
        #expect(entry.metadata["pressurekit.evicted"] == "1")
    }

    /// P5: whatever the handler does, the memory is free before it is called.
    @Test func nothingIsLoggedBeforeMemoryIsFree() throws {
        let source = SimulatedSource()
        let (logger, handler) = Self.keptLogger()
        let clock = ManualClock()
        let manager = try withLogger(logger) { _ in
            try makeManager(fileSystem: InMemoryFileSystem()) {
                $0.sources = [.simulated(source)]
                $0.clock = clock
                $0.isSequential = true
            }
        }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: makeBytes(1000, seed: 1))
        let watch = Watch { #expect(handler.entries.isEmpty) }
        controller.delegate = watch
        _ = manager.drive()
        source.set(.critical)
        _ = manager.drive()
        #expect(cache.residency == .spilled)
        #expect(watch.calls.value > 0)
        #expect(handler.entries.map(\.message.description) == ["memory pressure rose", "reclaim finished"])
        #expect(handler.entries[0].metadata["pressurekit.level"] == "critical")
    }

    private final class Watch: PressureControllerDelegate {
        let calls = Shared(0)
        private let check: @Sendable () -> Void

        init(_ check: @escaping @Sendable () -> Void) { self.check = check }

        func resourceDidEvict(_ resource: PressureResource) {
            calls.change { $0 += 1 }
            check()
        }
    }

    @Test(.enabled(if: pk_allocations_are_counted(), "malloc belongs to a sanitizer here"))
    func loggingEverythingAllocatesNothingOnTheWay() async throws {
        let (logger, handler) = Self.keptLogger()
        let manager = try withLogger(logger) { _ in
            try makeManager { $0.allocationProbe = { Int(pk_thread_allocations()) } }
        }
        let caches = try (0..<8).map {
            try manager.root.cache("\($0)", initialValue: PageBuffer(makeBytes(9000, seed: 1)))
        }
        // The first reclaim of a process may find things of Swift's own to make.
        _ = await manager.simulateMemoryWarning(.critical)
        for cache in caches { try await cache.lease().value.withBytes { _ in } }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evictedCount == caches.count)
        #expect(report.allocations == 0)
        #expect(!handler.entries.isEmpty)
    }

    /// Everything that can go wrong, with values and keys that must not be seen.
    @Test func neitherValuesNorKeysAreLogged() async throws {
        let secret = "correct horse battery staple"
        let (logger, handler) = Self.keptLogger()
        let disk = FaultyFileSystem(InMemoryFileSystem())
        let manager = try withLogger(logger) { _ in try makeManager(fileSystem: disk) }
        let users = try manager.root.keyedCache("users") { (_: String) in Array(secret.utf8) }
        _ = try await users.value(for: secret)
        let kept = try manager.root.cache("kept", initialValue: Array(String(repeating: secret, count: 99).utf8))
        _ = await manager.simulateMemoryWarning(.critical)
        disk.set(.init(.error(5), on: .read))
        _ = try? await kept.value()
        _ = try? await users.value(for: secret)
        disk.set(.init(.error(28), on: .write))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(handler.entries.contains { $0.level == .warning })
        for entry in handler.entries { #expect(!"\(entry)".contains("horse"), "\(entry)") }
    }
}
