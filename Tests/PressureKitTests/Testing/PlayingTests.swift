import PressureKit
import PressureKitTesting
import Testing

/// Time that passes only in tests. But for the lock, all of it is what an app's own tests have.
@Suite struct PlayingTests {
    private final class Editor: PressureControllerDelegate {
        private let seen = Lock<[PressureLevel]>([])
        var warnings: [PressureLevel] { seen.withLock { $0 } }

        func didReceiveMemoryWarning(_ warning: MemoryWarning) { seen.withLock { $0.append(warning.level) } }
    }

    @Test func aDiagramIsAnsweredByADiagram() async throws {
        let clock = ManualClock()
        let source = MarbleSource("nnwwccnnnnnnnnnnnnnnnnnnnnnnn", clock: clock)
        let manager = try PressureManager(configuration: .testing(clock: clock, sources: [source.pressureSource]))
        let levels = await manager.play(source)
        #expect(levels == "nnwwccccccccccccwwwwwwwwwwnnn")
        #expect(await manager.watch(for: .seconds(60), on: clock) == .normal)
        #expect(clock.elapsed == .seconds(29 + 60))
    }

    @Test func warningsHaveBeenAnsweredWhenTheTickIsOver() async throws {
        let clock = ManualClock()
        let source = MarbleSource("nwc", clock: clock)
        let manager = try PressureManager(configuration: .testing(clock: clock, sources: [source.pressureSource]))
        let editor = Editor()
        let controller = PressureController("editor")
        controller.delegate = editor
        try manager.root.addChild(controller)
        let drawing = try controller.cache("drawing", initialValue: [UInt8](repeating: 1, count: 1 << 20))
        try await expectNoLoss(in: manager) {
            await manager.play(source)
            #expect(editor.warnings.first == .warning && editor.warnings.last == .critical)
            #expect(drawing.residency == .spilled)
        }
    }

    @Test func whatIsDoneAheadIsDoneInTheTimeThatPasses() async throws {
        let clock = ManualClock()
        var configuration = PressureConfiguration.testing(clock: clock)
        configuration.copiesAhead = true
        let manager = try PressureManager(configuration: configuration)
        let drawing = try manager.root.cache("drawing", initialValue: [UInt8](repeating: 1, count: 1 << 20))
        await manager.watch(for: .seconds(60), on: clock)
        #expect(manager.snapshot().cleanFraction == 1)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.map(\.outcome) == [.reused])
        #expect(drawing.residency == .spilled)
    }

    @Test func stateOutlivesTheManagerOnTheSameDisk() async throws {
        let disk = InMemoryFileSystem()
        do {
            let manager = try PressureManager(configuration: .testing(disk: disk))
            _ = try manager.root.cache("title", initialValue: "a title")
            try await manager.saveState(to: "/var/tmp/app")
        }
        let manager = try PressureManager(configuration: .testing(disk: disk))
        try await manager.restoreState(from: "/var/tmp/app")
        #expect(try await manager.root.cache("title", of: String.self).value() == "a title")
    }

    @Test func aDiskIsAsSmallAsATestWants() async throws {
        let manager = try PressureManager(configuration: .testing(disk: InMemoryFileSystem(capacity: .zero)))
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<100_000).map { _ in UInt64.random(in: 0...UInt64.max, using: &generator) }
        let cache = try manager.root.cache("noise", initialValue: noise)
        let report = try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        #expect(cache.isLoaded)
        #expect(report.evicted.isEmpty && report.skipped.map(\.path) == ["noise"])
    }
}
