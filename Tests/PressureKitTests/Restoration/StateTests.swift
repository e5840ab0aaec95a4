import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Saving where the app was, and bringing it back in another process.
@Suite(.timeLimit(.minutes(15))) struct StateTests {
    private typealias App = StateBench.App
    private let bench = StateBench()

    @Test func everythingComesBackAfterARelaunch() async throws {
        try await bench.save()
        bench.base.endProcess()
        let app = try App(bench.disk)
        let report = try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(report.isFound && report.version == "1")
        #expect(report.stopped == [] && report.failures == [])
        #expect(report.byteCount == .zero, "nobody has asked for the caches yet")
        #expect(
            app.lines.take() == [
                "provide news/article", "provide news/article/sheet", "decode 7", "decode 7", "decode 7", "finish",
                "finish", "finish",
            ]
        )
        try bench.check(app)
        // What was read is dirty or clean as any other value: out again, back again, and saved again.
        _ = await app.manager.simulateMemoryWarning(.critical)
        try await app.manager.saveState(to: StateBench.directory, version: "2")
        bench.base.endProcess()
        let third = try App(bench.disk)
        #expect(try await third.manager.restoreState(from: StateBench.directory, version: "2").version == "2")
        try bench.check(third)
    }

    @Test func cachesThatAreThereAlreadyGetTheirValues() async throws {
        try await bench.save()
        bench.base.endProcess()
        let app = try App(bench.disk)
        let mine = try app.news.cache("resident", initialValue: [UInt8]([1, 2, 3]))
        let held = try app.news.cache("spilled", initialValue: [UInt8]([4]))
        let lease = try await held.lease()
        let report = try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(report.caches.sorted() == ["news/resident", "news/spilled"])
        #expect(lease.value == [4], "who holds a value keeps it")
        #expect(try await mine.value() == makeBytes(700_000, seed: 2, randomBits: 8))
        #expect(try await held.value() == makeBytes(300_000, seed: 1))
    }

    /// Of values, as they lie on the disk; what nobody claims yet, or nobody may have, is not among it.
    @Test func theReportSaysHowMuchWasRestored() async throws {
        let first = try App(bench.disk)
        func noise(_ count: Int) -> [UInt8] { makeBytes(count, seed: 1, randomBits: 8) }
        _ = try first.news.cache("mine", initialValue: noise(300_000))
        _ = try first.news.cache("later", initialValue: noise(70_000))
        _ = try first.news.cache("other", initialValue: noise(50_000))
        let tiles = try first.news.keyedCache("tiles", key: String.self, value: [UInt8].self)
        for key in ["1", "2", "none"] { tiles.set(noise(20_000), for: key) }
        let saved = try await first.manager.saveState(to: StateBench.directory, version: "1")
        #expect(saved.byteCount > .bytes(480_000))
        #expect(saved.version == "1" && "\(saved)" == "version 1: \(saved.byteCount) of 4 caches, 0 failures")
        bench.base.endProcess()

        let app = try App(bench.disk)
        let mine = try app.news.cache("mine", of: [UInt8].self)
        let other = try app.news.cache("other", of: String.self)
        let numbers = try app.news.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        let report = try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(report.caches.sorted() == ["news/mine", "news/tiles"])
        #expect(report.failures.map(\.code) == [.stateMismatch])
        #expect(numbers.keys.sorted() == [1, 2])
        // Noise is stored as it is, and each chunk with a few bytes about it.
        #expect(report.byteCount >= .bytes(340_000) && report.byteCount < .bytes(341_000), "\(report.byteCount)")
        #expect(try await mine.value() == noise(300_000))
        withExtendedLifetime(other) {}
    }

    @Test func withoutAStateNothingHappens() async throws {
        let app = try App(bench.disk)
        let report = try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(!report.isFound && report.controllers == [] && report.byteCount == .zero)
        #expect("\(report)" == "no state")
        #expect(app.lines.take() == [])
    }

    // MARK: Providers

    @Test func aBranchThatNobodyProvidesStops() async throws {
        try await bench.save()
        bench.base.endProcess()
        let app = try App(bench.disk, provides: false)
        let report = try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(report.stopped == ["news/article"])
        #expect("\(report)".hasSuffix(" failures, stopped at news/article"))
        #expect(report.controllers == ["news"])
        // The controller's delegate and the manager's are the same here: asked as both.
        #expect(app.lines.take() == ["provide news/article", "provide news/article", "decode 7", "finish"])
        #expect(try await app.news.cache("spilled", of: [UInt8].self).value() == makeBytes(300_000, seed: 1))
    }

    @Test func aProviderThatGivesAnotherControllerIsTold() async throws {
        try await bench.save()
        bench.base.endProcess()
        let app = try App(bench.disk, wrong: "impostor")
        let report = try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(report.stopped == ["news/article"])
        #expect("\(report)".hasSuffix(" failures, stopped at news/article"))
        #expect(report.failures.map(\.code) == [.stateMismatch])
        #expect(report.failures.map(\.path) == ["news/article"])
        #expect(app.news.children.isEmpty)
    }

    // MARK: Opting out

    @Test func whatOptsOutIsNotSaved() async throws {
        let app = try App(bench.disk)
        let hidden = try addController("private", to: app.news)
        hidden.isRestorable = false
        _ = try hidden.cache("x", initialValue: [UInt8]([1]))
        let secret = try app.news.cache("secret", initialValue: [UInt8]([2]))
        secret.isRestorable = false
        _ = try app.news.cache("plain", initialValue: [UInt8]([3]))
        let report = try await app.manager.saveState(to: StateBench.directory)
        #expect(report.controllers == ["news"])
        #expect(report.caches == ["news/plain"])
    }

    @Test func aValueOfAnotherTypeIsNotRead() async throws {
        try await bench.save()
        bench.base.endProcess()
        let app = try App(bench.disk)
        try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(try app.news.cache("spilled", initialValue: [Int](0..<3)).isLoaded)
    }

    // MARK: Versions and vetoes

    @Test func anotherVersionIsRefusedUnlessTheDelegateWantsIt() async throws {
        final class Delegate: PressureManagerDelegate {
            func shouldRestoreState(savedBy saved: String, version: String) -> Bool { saved < version }
            func shouldSaveState() -> Bool { false }
        }
        try await bench.save(version: "1")
        bench.base.endProcess()
        let app = try App(bench.disk)
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.restoreState(from: StateBench.directory, version: "2")
        }
        #expect(error?.code == .stateRefused)
        #expect(app.lines.take() == [] && app.news.children.isEmpty)
        let delegate = Delegate()
        app.manager.delegate = delegate
        #expect(try await app.manager.restoreState(from: StateBench.directory, version: "2").version == "1")
        let veto = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: StateBench.directory)
        }
        #expect(veto?.code == .stateNotSaved)
    }

    // MARK: Extending

    @Test func restoringWaitsForWhoExtendsIt() async throws {
        try await bench.save()
        bench.base.endProcess()
        let app = try App(bench.disk)
        let isDone = ConditionLock(false)
        app.lines.on("finish") { [manager = app.manager] in
            manager.extendStateRestoration()
            manager.extendStateRestoration()
            Task {
                let error = await #expect(throws: PressureError.self) {
                    try await manager.saveState(to: StateBench.directory)
                }
                #expect(error?.code == .stateNotSaved, "half of it is no state")
                manager.completeStateRestoration()
                isDone.withLock { $0 = true }
                manager.completeStateRestoration()
            }
        }
        try await app.manager.restoreState(from: StateBench.directory, version: "1")
        #expect(isDone.withLock { $0 })
        app.manager.completeStateRestoration()
        try await app.manager.saveState(to: StateBench.directory)
    }
}
