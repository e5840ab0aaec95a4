import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

/// Restoring ahead what is about to be seen.
@Suite struct PrefetchTests {
    /// Waits for the end of a restore.
    private func restored(_ events: PressureEvents) async -> RestoreReport? {
        for await event in events {
            if case .restoreFinished(let report) = event { return report }
        }
        return nil
    }

    @Test func whatAppearsComesBackBeforeItIsAskedFor() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let page = try addController("page", to: manager.root)
        let inner = try addController("inner", to: page)
        let other = try addController("other", to: manager.root)
        let caches = try [page, inner, other].map { try $0.cache("value", initialValue: makeBytes(10_000, seed: 1)) }
        let loaded = try page.cache("loaded") { makeBytes(10, seed: 2) }
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(caches.map(\.residency) == [.spilled, .spilled, .spilled])
        let events = manager.events
        page.appear()
        let report = try #require(await restored(events))
        #expect(Set(report.restored.map(\.path)) == ["page/value", "page/inner/value"])
        #expect(caches.map(\.residency) == [.resident, .resident, .spilled])
        #expect(!loaded.isLoaded, "a loader ran that nobody asked for")
    }

    @Test func itIsAnOption() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.restoresAhead = false }
        let page = try addController("page", to: manager.root)
        let cache = try page.cache("value", initialValue: makeBytes(10_000, seed: 1))
        _ = await manager.simulateMemoryWarning(.critical)
        page.appear()
        _ = await manager.enterForeground()
        #expect(cache.residency == .spilled)
    }
}
