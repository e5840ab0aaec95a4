import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A disk in memory, and apps that save their state to it and find it again.
struct StateBench {
    static let directory = "/var/tmp/state"
    let base = InMemoryFileSystem()
    let disk: FaultyFileSystem

    init() { disk = FaultyFileSystem(wrapping: base) }

    /// An app with a list, of which an article is open, and a sheet over it.
    final class App: PressureControllerDelegate, PressureManagerDelegate {
        let manager: PressureManager
        let news = PressureController("news")
        let lines = HookLog.Lines()
        /// Whether it provides controllers, and with which identifier instead of the right one.
        let provides: Bool
        let wrong: String?
        let page = Lock(0)
        let kept = Lock<[PressureController]>([])

        init(_ disk: any NamedFileSystem, provides: Bool = true, wrong: String? = nil) throws {
            manager = try makeManager(fileSystem: disk)
            self.provides = provides
            self.wrong = wrong
            try manager.root.addChild(news)
            news.delegate = self
            manager.delegate = self
        }

        func controller(forRestoring path: String, coder: StateCoder) -> PressureController? {
            lines.add("provide \(path)")
            guard provides else { return nil }
            let controller = PressureController(wrong ?? String(path.split(separator: "/").last!))
            controller.delegate = self
            kept.withLock { $0.append(controller) }
            return controller
        }

        func encodeRestorableState(into coder: inout StateCoder) { coder.encode(page.withLock { $0 }, forKey: "page") }
        func decodeRestorableState(from coder: StateCoder) {
            lines.add("decode \(coder.decode(Int.self, forKey: "page") ?? -1)")
        }
        func didFinishRestoringState() { lines.add("finish") }
    }

    /// Fills an app with values of every kind: in memory, spilled, with and without a loader, by key.
    func fill(_ app: App, seed: UInt64 = 0) async throws {
        let article = try addController("article", to: app.news)
        article.delegate = app
        let sheet = PressureController("sheet")
        sheet.delegate = app
        try article.present(sheet)
        app.page.withLock { $0 = Int(seed) + 7 }
        _ = try app.news.cache("spilled", initialValue: makeBytes(300_000, seed: seed + 1))
        _ = await app.manager.simulateMemoryWarning(.critical)
        _ = try app.news.cache("resident", initialValue: makeBytes(700_000, seed: seed + 2, randomBits: 8))
        _ = try app.news.cache("empty", initialValue: [UInt8]())
        _ = try app.news.cache("nothing", of: [UInt8].self)
        let loaded = try article.cache("loaded") { makeBytes(5000, seed: seed + 3) }
        try loaded.loadIfNeeded()
        _ = try sheet.cache("text", initialValue: "written \(seed)")
        let tiles = try article.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in 0..<20 { tiles.set(makeBytes(1000, seed: seed + UInt64(key)), for: key) }
    }

    /// Whether a restored app has what `fill` had put there.
    func check(_ app: App, seed: UInt64 = 0) throws {
        let article = try #require(app.news.children.first)
        let sheet = try #require(article.presented)
        let spilled = try app.news.cache("spilled", of: [UInt8].self)
        let resident = try app.news.cache("resident", initialValue: [UInt8]([1]))
        #expect([spilled.residency, resident.residency] == [.spilled, .spilled])
        #expect(try spilled.value() == makeBytes(300_000, seed: seed + 1))
        #expect(try resident.value() == makeBytes(700_000, seed: seed + 2, randomBits: 8), "not the initial value")
        #expect(try app.news.cache("empty", of: [UInt8].self).value() == [])
        let nothing = try app.news.cache("nothing", of: [UInt8].self)
        #expect(throws: PressureError.self) { try nothing.value() }
        let loaded = try article.cache("loaded") { makeBytes(5000, seed: 999) }
        #expect(try loaded.value() == makeBytes(5000, seed: seed + 3), "restored, not loaded again")
        #expect(try sheet.cache("text", of: String.self).value() == "written \(seed)")
        let tiles = try article.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in 0..<20 {
            #expect(tiles.residency(for: key) == .spilled)
            #expect(try tiles.value(for: key) == makeBytes(1000, seed: seed + UInt64(key)))
        }
    }

    func save(seed: UInt64 = 0, version: String = "1") async throws {
        let app = try App(disk)
        try await fill(app, seed: seed)
        let report = try await app.manager.saveState(to: Self.directory, version: version)
        #expect(report.controllers.sorted() == ["news", "news/article", "news/article/sheet"])
        #expect(report.caches.count == 6)
        await app.manager.shutdown()
    }
}
