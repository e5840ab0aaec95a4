import Glibc
import PressureKit
import PressureKitTesting
import Testing

/// What Testing.md quotes, run as it stands there.
@Suite struct TestingSnippetsTests {
    @Test func aWarningLosesNothing() async throws {
        let manager = try PressureManager(configuration: .testing())
        let drawing = try manager.root.cache("drawing", initialValue: [UInt8](repeating: 1, count: 1 << 20))
        try await expectNoLoss(in: manager) {
            await manager.simulateMemoryWarning(.critical)
            #expect(drawing.residency == .spilled)
        }
    }

    @Test func theLevelFallsLaterThanItRises() async throws {
        let clock = ManualClock()
        let marbles = MarbleSource("nwwnnnnnnnnnnnnn", clock: clock)
        let configuration = PressureConfiguration.testing(clock: clock, sources: [marbles.pressureSource])
        let manager = try PressureManager(configuration: configuration)
        #expect(await manager.play(marbles) == "nwwwwwwwwwwwwnnn")
        #expect(await manager.watch(for: .seconds(60), on: clock) == .normal)
    }

    @Test func aFullDiskKeepsTheValueInMemory() async throws {
        let disk = InMemoryFileSystem(capacity: .kibibytes(64))
        let manager = try PressureManager(configuration: .testing(disk: disk))
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<65_536).map { _ in UInt64.random(in: 0...UInt64.max, using: &generator) }
        let cache = try manager.root.cache("noise", initialValue: noise)
        try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        #expect(cache.isLoaded)
    }

    @Test func noFailingWriteLosesTheDrawing() async throws {
        try await FaultyFileSystem.forEachCall(failingWith: .error(EIO), on: .write) { disk in
            // On a disk that fails at once there is no manager, which is no loss.
            guard let manager = try? PressureManager(configuration: .testing(disk: disk)) else { return }
            _ = try manager.root.cache("drawing", initialValue: [UInt8](repeating: 1, count: 1 << 20))
            try await expectNoLoss(in: manager) { await manager.simulateMemoryWarning(.critical) }
        }
    }

    @Test func theTitleIsThereAfterARelaunch() async throws {
        let disk = InMemoryFileSystem()
        var manager = try PressureManager(configuration: .testing(disk: disk))
        _ = try manager.root.cache("title", initialValue: "Sketches")
        try await manager.saveState(to: "/var/tmp/app", version: "1")

        manager = try PressureManager(configuration: .testing(disk: disk))
        try await manager.restoreState(from: "/var/tmp/app", version: "1")
        #expect(try await manager.root.cache("title", of: String.self).value() == "Sketches")
    }
}
