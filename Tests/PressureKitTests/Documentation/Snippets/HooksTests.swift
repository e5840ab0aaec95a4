import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

/// The hooks that Integrating.md shows are hooks: each is called, and says which cache it is about.
@Suite(.timeLimit(.minutes(5))) struct HooksTests {
    @Test func eachHookOfTheArticleIsCalled() async throws {
        let lines = Lock<[String]>([])
        let watcher = Watcher { line in lines.withLock { $0.append(line) } }
        let manager = try PressureManager(configuration: .testing())
        let app = PressureController("app")
        try manager.root.addChild(app)
        app.delegate = watcher
        struct Refused: Error {}
        let pages = try app.cache("pages") { [UInt8](repeating: 1, count: 1 << 20) }
        let open = try app.cache("open", initialValue: [UInt8](repeating: 2, count: 1 << 20))
        let note = try app.cache("note", initialValue: [UInt8](repeating: 3, count: 1 << 20))
        let broken = try app.cache("broken") { () throws -> [UInt8] in throw Refused() }

        _ = try await pages.value()
        await manager.simulateMemoryWarning(.critical)
        _ = try await note.value()
        _ = try? await broken.value()

        #expect(open.isLoaded, "shouldEvict was asked")
        let heard = lines.withLock { $0 }
        #expect(heard.contains("loaded: app/pages"))
        #expect(heard.contains("warned: critical"))
        #expect(heard.contains("evicted: app/pages") && heard.contains("evicted: app/note"))
        #expect(heard.contains("restored: app/note"))
        #expect(heard.contains { $0.hasPrefix("done: freed 2.0 MiB") })
        #expect(heard.contains("failed: app/broken, Refused()"))
        withExtendedLifetime(watcher) {}
    }

    /// A level is told to those who are visible.
    @Test func aLevelThatChangesIsHeard() async throws {
        let lines = Lock<[String]>([])
        let watcher = Watcher { line in lines.withLock { $0.append(line) } }
        let clock = ManualClock()
        let marbles = MarbleSource("nccccc", clock: clock)
        let configuration = PressureConfiguration.testing(clock: clock, sources: [marbles.pressureSource])
        let manager = try PressureManager(configuration: configuration)
        let app = PressureController("app")
        try manager.root.addChild(app)
        app.delegate = watcher
        app.appear()
        _ = await manager.play(marbles)
        #expect(lines.withLock { $0 }.contains("level: critical"))
        withExtendedLifetime(watcher) {}
    }
}
