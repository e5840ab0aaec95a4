import Logging
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

#if ServiceLifecycle
import ServiceLifecycle
#endif

/// The whole way: a signal, the monitor, the delegate, the events, the controllers, the memory.
@Suite(.timeLimit(.minutes(15))) struct RunTests {
    private func waitForWarning(_ events: PressureEvents) async -> MemoryWarning? {
        for await event in events {
            if case .memoryWarning(let warning) = event { return warning }
        }
        return nil
    }

    @Test func aSignalEvictsUntilTheTaskIsCancelled() async throws {
        let source = SimulatedSource()
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.sources = [.simulated(source)] }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: makeBytes(1000, seed: 1))
        let (events, running) = (manager.events, Task { try await manager.run() })
        source.set(.critical)
        let warning = await waitForWarning(events)
        #expect(warning?.level == .critical)
        #expect(warning?.cause.source == "simulated")
        for await event in events {
            guard case .reclaimFinished(let report) = event else { continue }
            #expect(report.evicted.map(\.path) == ["app/value"])
            break
        }
        #expect(cache.residency == .spilled)
        #expect(manager.level == .critical)
        running.cancel()
        // Ending so is no failure.
        try await running.value
        #expect(try await cache.value() == makeBytes(1000, seed: 1))
    }

    #if ServiceLifecycle
    @Test func aServiceGroupMayShutItDownGracefully() async throws {
        let source = SimulatedSource(level: .warning)
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.sources = [.simulated(source)] }
        let events = manager.events
        let group = ServiceGroup(
            services: [manager],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let running = Task { try await group.run() }
        // It runs when it has warned.
        #expect(await waitForWarning(events)?.level == .warning)
        await group.triggerGracefulShutdown()
        // A service that returns before it was asked to is an error of the group.
        try await running.value
    }
    #endif

    /// A marble diagram played on a clock moved by hand: up, eviction, and down one level at a time, normal once.
    @Test func aMarbleDiagramFromWarningToNormal() async throws {
        let clock = ManualClock()
        let marbles = MarbleSource("nnwwcc" + String(repeating: "n", count: 30), clock: clock)
        let pulse = Pulse()
        let waker = SimulatedSource(name: "waker")
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { configuration in
            configuration.clock = clock
            configuration.sources = [
                marbles.pressureSource, .simulated(waker),
                PressureSource(name: "pulse") { () throws(PressureError) in pulse },
            ]
        }
        let controller = try addController("app", to: manager.root)
        let caches = try (0..<8).map { try controller.cache("\($0)", initialValue: makeBytes(1000, seed: UInt64($0))) }
        let events = manager.events
        let running = Task { try await manager.run() }
        for tick in 0..<marbles.count {
            // The monitor has seen this tick; when it looks again, what it had to say then has been said.
            waker.set(.normal)
            while pulse.last < .seconds(tick) { await Task.yield() }
            let looks = pulse.count
            waker.set(.normal)
            while pulse.count == looks { await Task.yield() }
            while manager.isReclaiming { await Task.yield() }
            clock.advance(by: .seconds(1))
        }
        running.cancel()
        try await running.value
        await manager.shutdown()

        var levels: [PressureLevel] = []
        var story: [String] = []
        for await event in events {
            switch event {
            case .levelChanged(let cause): levels.append(cause.levelAfter)
            case .memoryWarning(let warning):
                story.append("warning")
                #expect(warning.cause.source == marbles.name)
            case .reclaimFinished(let report): story.append("reclaim of \(report.evicted.count)")
            case .restoreFinished, .failure: Issue.record("\(event)")
            }
        }
        #expect(levels == [.warning, .critical, .warning, .normal])
        #expect(story.prefix(2) == ["warning", "reclaim of 2"])
        #expect(story.contains("reclaim of 6"))
        #expect(caches.map(\.residency) == Array(repeating: .spilled, count: 8))
        for (index, cache) in caches.enumerated() {
            #expect(try await cache.value() == makeBytes(1000, seed: UInt64(index)))
        }
    }

    /// A source without a vote that tells when it was last asked.
    private final class Pulse: SignalSource {
        let name = "pulse"
        private let seen = Lock((last: Duration.seconds(-1), count: 0))
        var last: Duration { seen.withLock { $0.last } }
        var count: Int { seen.withLock { $0.count } }
        func sample(at now: MonotonicInstant) -> SignalReading? {
            seen.withLock { $0 = (.nanoseconds(now.nanoseconds), $0.count + 1) }
            return nil
        }
    }

    // MARK: The end

    @Test func afterShutdownNothingIsReclaimedAndEverythingCanBeUsed() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let spilled = try controller.cache("spilled", initialValue: makeBytes(1000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        let kept = try controller.cache("kept", initialValue: makeBytes(1000, seed: 2))
        await manager.shutdown()
        await manager.shutdown()
        for report in [
            await manager.simulateMemoryWarning(.critical), await manager.reclaim(.mebibytes(1)),
            await manager.enterBackground(),
        ] {
            #expect(report.claimed == .zero)
            #expect(report.evicted.isEmpty)
        }
        #expect(await manager.enterForeground().failures == [])
        #expect(kept.isLoaded)
        #expect(try await spilled.value() == makeBytes(1000, seed: 1))
        try spilled.update { $0[0] = 0 }
        #expect(try controller.cache("new", initialValue: [UInt8]([1])).isLoaded)
        #expect(manager.snapshot().controllers.count == 2)
        let error = await #expect(throws: PressureError.self) { try await manager.run() }
        #expect(error?.code == .shutDown)
    }

    @Test(.timeLimit(.minutes(1))) func valuesOutliveTheirManager() async throws {
        let disk = InMemoryFileSystem()
        var manager: PressureManager? = try makeManager(fileSystem: disk)
        let controller = try addController("app", to: manager!.root)
        var cache: LazyCache<[UInt8]>? = try controller.cache("value", initialValue: makeBytes(1000, seed: 1))
        _ = await manager!.simulateMemoryWarning(.critical)
        #expect(cache?.residency == .spilled)
        weak let gone = manager
        manager = nil
        #expect(gone == nil)
        #expect(disk.openFiles == 1, "its copy is there")
        #expect(try await cache?.value() == makeBytes(1000, seed: 1))
        controller.removeCache(cache!)
        cache = nil
        // The thread that read it back may hold the cache for a moment longer; who kept it would be found by the time limit.
        while disk.openFiles != 0 { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func aReclaimIsLoggedWithItsNumbers() async throws {
        let lines = LogLines()
        var configuration = PressureConfiguration()
        configuration.sources = []
        configuration.fileSystem = InMemoryFileSystem()
        configuration.spillDirectory = "/var/tmp"
        configuration.freeSpaceFloor = .zero
        var logger = Logger(label: "test") { _ in Handler(lines: lines) }
        logger.logLevel = .debug
        let manager = try PressureManager(configuration: configuration, logger: logger)
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: makeBytes(2048, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        let metadata = lines.all.first ?? [:]
        #expect(metadata["pressurekit.claimed_bytes"] == "2048")
        #expect(metadata["pressurekit.evicted"] == "1")
        #expect(metadata["pressurekit.skipped"] == "0")
        #expect(metadata["pressurekit.failures"] == "0")
        #expect(metadata["pressurekit.cause"] == "normal → critical: simulated (simulateMemoryWarning)")
        withExtendedLifetime(cache) {}
    }

    private final class LogLines: Sendable {
        private let lines = Lock<[Logger.Metadata]>([])
        var all: [Logger.Metadata] { lines.withLock { $0 } }
        func add(_ line: Logger.Metadata) { lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) { lines.add(event.metadata ?? [:]) }
    }

    // MARK: Configuration

    struct Wrong: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout PressureConfiguration) -> Void
        init(_ description: String, _ change: @escaping @Sendable (inout PressureConfiguration) -> Void) {
            testDescription = description
            self.change = change
        }
    }

    @Test(arguments: [
        Wrong("workers") { $0.workers = 0 }, Wrong("workers") { $0.workers = -1 },
        Wrong("workers") { $0.workers = 257 },
        Wrong("warningShare") { $0.warningShare = 0 }, Wrong("warningShare") { $0.warningShare = 1.01 },
        Wrong("warningShare") { $0.warningShare = .nan }, Wrong("warningShare") { $0.warningShare = -1 },
        Wrong("spillLimit") { $0.spillLimit = .bytes(-1) }, Wrong("freeSpaceFloor") { $0.freeSpaceFloor = .bytes(-1) },
    ])
    func aWrongValueIsNamed(_ wrong: Wrong) {
        let error = #expect(throws: PressureError.self) {
            try makeManager(fileSystem: InMemoryFileSystem()) { wrong.change(&$0) }
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(wrong.testDescription) == true)
    }

    @Test(arguments: [
        Wrong("one worker") { $0.workers = 1 }, Wrong("no limit") { $0.spillLimit = nil },
        Wrong("no room") { $0.spillLimit = .zero }, Wrong("all at a warning") { $0.warningShare = 1 },
    ])
    func theEdgesAreAllowed(_ right: Wrong) async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { right.change(&$0) }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: makeBytes(1000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(try await cache.value() == makeBytes(1000, seed: 1))
    }
}
