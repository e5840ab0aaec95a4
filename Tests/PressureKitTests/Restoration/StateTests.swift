import Glibc
import PressureKitTesting
import Testing

@testable import PressureKit

/// Saving where the app was, and bringing it back in another process.
@Suite(.timeLimit(.minutes(15))) struct StateTests {
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

        init(_ disk: any FileSystem, provides: Bool = true, wrong: String? = nil) throws {
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
    private func fill(_ app: App, seed: UInt64 = 0) async throws {
        let article = try addController("article", to: app.news)
        article.delegate = app
        let sheet = PressureController("sheet")
        sheet.delegate = app
        try article.present(sheet)
        app.page.withLock { $0 = Int(seed) + 7 }
        _ = app.news.cache("spilled", initialValue: makeBytes(300_000, seed: seed + 1))
        _ = await app.manager.simulateMemoryWarning(.critical)
        _ = app.news.cache("resident", initialValue: makeBytes(700_000, seed: seed + 2, randomBits: 8))
        _ = app.news.cache("empty", initialValue: [UInt8]())
        _ = app.news.cache("nothing", of: [UInt8].self)
        let loaded = article.cache("loaded") { makeBytes(5000, seed: seed + 3) }
        try loaded.loadIfNeeded()
        _ = sheet.cache("text", initialValue: "written \(seed)")
        let tiles = article.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in 0..<20 { tiles.set(makeBytes(1000, seed: seed + UInt64(key)), for: key) }
    }

    /// Whether a restored app has what `fill` had put there.
    private func check(_ app: App, seed: UInt64 = 0) throws {
        let article = try #require(app.news.children.first)
        let sheet = try #require(article.presented)
        let spilled = app.news.cache("spilled", of: [UInt8].self)
        let resident = app.news.cache("resident", initialValue: [UInt8]([1]))
        #expect([spilled.residency, resident.residency] == [.spilled, .spilled])
        #expect(try spilled.value() == makeBytes(300_000, seed: seed + 1))
        #expect(try resident.value() == makeBytes(700_000, seed: seed + 2, randomBits: 8), "not the initial value")
        #expect(try app.news.cache("empty", of: [UInt8].self).value() == [])
        let nothing = app.news.cache("nothing", of: [UInt8].self)
        #expect(throws: PressureError.self) { try nothing.value() }
        let loaded = article.cache("loaded") { makeBytes(5000, seed: 999) }
        #expect(try loaded.value() == makeBytes(5000, seed: seed + 3), "restored, not loaded again")
        #expect(try sheet.cache("text", of: String.self).value() == "written \(seed)")
        let tiles = article.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in 0..<20 {
            #expect(tiles.residency(for: key) == .spilled)
            #expect(try tiles.value(for: key) == makeBytes(1000, seed: seed + UInt64(key)))
        }
    }

    private func save(seed: UInt64 = 0, version: String = "1") async throws {
        let app = try App(disk)
        try await fill(app, seed: seed)
        let report = try await app.manager.saveState(to: Self.directory, version: version)
        #expect(report.controllers.sorted() == ["news", "news/article", "news/article/sheet"])
        #expect(report.caches.count == 6)
        await app.manager.shutdown()
    }

    // MARK: The whole way

    @Test func everythingComesBackAfterARelaunch() async throws {
        try await save()
        base.endProcess()
        let app = try App(disk)
        let report = try await app.manager.restoreState(from: Self.directory, version: "1")
        #expect(report.isFound && report.version == "1")
        #expect(report.stopped == [] && report.failures == [])
        #expect(
            app.lines.take() == [
                "provide news/article", "provide news/article/sheet", "decode 7", "decode 7", "decode 7", "finish",
                "finish", "finish",
            ]
        )
        try check(app)
        // What was read is dirty or clean as any other value: out again, back again, and saved again.
        _ = await app.manager.simulateMemoryWarning(.critical)
        try await app.manager.saveState(to: Self.directory, version: "2")
        base.endProcess()
        let third = try App(disk)
        #expect(try await third.manager.restoreState(from: Self.directory, version: "2").version == "2")
        try check(third)
    }

    @Test func cachesThatAreThereAlreadyGetTheirValues() async throws {
        try await save()
        base.endProcess()
        let app = try App(disk)
        let mine = app.news.cache("resident", initialValue: [UInt8]([1, 2, 3]))
        let held = app.news.cache("spilled", initialValue: [UInt8]([4]))
        let lease = try await held.lease()
        let report = try await app.manager.restoreState(from: Self.directory, version: "1")
        #expect(report.caches.sorted() == ["news/resident", "news/spilled"])
        #expect(lease.value == [4], "who holds a value keeps it")
        #expect(try await mine.value() == makeBytes(700_000, seed: 2, randomBits: 8))
        #expect(try await held.value() == makeBytes(300_000, seed: 1))
    }

    @Test func withoutAStateNothingHappens() async throws {
        let app = try App(disk)
        let report = try await app.manager.restoreState(from: Self.directory, version: "1")
        #expect(!report.isFound && report.controllers == [])
        #expect(app.lines.take() == [])
    }

    // MARK: Providers

    @Test func aBranchThatNobodyProvidesStops() async throws {
        try await save()
        base.endProcess()
        let app = try App(disk, provides: false)
        let report = try await app.manager.restoreState(from: Self.directory, version: "1")
        #expect(report.stopped == ["news/article"])
        #expect(report.controllers == ["news"])
        // The controller's delegate and the manager's are the same here: asked as both.
        #expect(app.lines.take() == ["provide news/article", "provide news/article", "decode 7", "finish"])
        #expect(try await app.news.cache("spilled", of: [UInt8].self).value() == makeBytes(300_000, seed: 1))
    }

    @Test func aProviderThatGivesAnotherControllerIsTold() async throws {
        try await save()
        base.endProcess()
        let app = try App(disk, wrong: "impostor")
        let report = try await app.manager.restoreState(from: Self.directory, version: "1")
        #expect(report.stopped == ["news/article"])
        #expect(report.failures.map(\.code) == [.stateMismatch])
        #expect(report.failures.map(\.path) == ["news/article"])
        #expect(app.news.children.isEmpty)
    }

    // MARK: Opting out

    @Test func whatOptsOutIsNotSaved() async throws {
        let app = try App(disk)
        let hidden = try addController("private", to: app.news)
        hidden.isRestorable = false
        _ = hidden.cache("x", initialValue: [UInt8]([1]))
        let secret = app.news.cache("secret", initialValue: [UInt8]([2]))
        secret.isRestorable = false
        _ = app.news.cache("plain", initialValue: [UInt8]([3]))
        let report = try await app.manager.saveState(to: Self.directory)
        #expect(report.controllers == ["news"])
        #expect(report.caches == ["news/plain"])
    }

    @Test func aValueOfAnotherTypeIsNotRead() async throws {
        try await save()
        base.endProcess()
        let app = try App(disk)
        try await app.manager.restoreState(from: Self.directory, version: "1")
        #expect(app.news.cache("spilled", initialValue: [Int](0..<3)).isLoaded)
    }

    // MARK: Versions and vetoes

    @Test func anotherVersionIsRefusedUnlessTheDelegateWantsIt() async throws {
        final class Delegate: PressureManagerDelegate {
            func shouldRestoreState(savedBy saved: String, version: String) -> Bool { saved < version }
            func shouldSaveState() -> Bool { false }
        }
        try await save(version: "1")
        base.endProcess()
        let app = try App(disk)
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.restoreState(from: Self.directory, version: "2")
        }
        #expect(error?.code == .stateRefused)
        #expect(app.lines.take() == [] && app.news.children.isEmpty)
        let delegate = Delegate()
        app.manager.delegate = delegate
        #expect(try await app.manager.restoreState(from: Self.directory, version: "2").version == "1")
        let veto = await #expect(throws: PressureError.self) { try await app.manager.saveState(to: Self.directory) }
        #expect(veto?.code == .stateNotSaved)
    }

    // MARK: Extending

    @Test func restoringWaitsForWhoExtendsIt() async throws {
        try await save()
        base.endProcess()
        let app = try App(disk)
        let isDone = ConditionLock(false)
        app.lines.on("finish") { [manager = app.manager] in
            manager.extendStateRestoration()
            manager.extendStateRestoration()
            Task {
                let error = await #expect(throws: PressureError.self) {
                    try await manager.saveState(to: Self.directory)
                }
                #expect(error?.code == .stateNotSaved, "half of it is no state")
                manager.completeStateRestoration()
                isDone.withLock { $0 = true }
                manager.completeStateRestoration()
            }
        }
        try await app.manager.restoreState(from: Self.directory, version: "1")
        #expect(isDone.withLock { $0 })
        app.manager.completeStateRestoration()
        try await app.manager.saveState(to: Self.directory)
    }

    // MARK: The directory

    @Test func oneManagerHoldsTheDirectory() async throws {
        let (first, second) = (try App(disk), try App(disk))
        try await first.manager.saveState(to: Self.directory)
        for _ in 0..<2 {
            let error = await #expect(throws: PressureError.self) {
                try await second.manager.saveState(to: Self.directory)
            }
            #expect(error?.code == .stateDirectoryInUse)
        }
        try await first.manager.saveState(to: Self.directory)
    }

    @Test func aDirectoryThatOthersCanUseIsRefused() async throws {
        let app = try App(disk)
        for (owner, permissions) in [(UInt32(1000), UInt32(0o755)), (1000, 0o770), (0, 0o700), (1001, 0o700)] {
            let facts = DirectoryFacts(
                isDirectory: true,
                owner: owner,
                permissions: permissions,
                magic: 0xEF53,
                device: nil
            )
            base.setDirectory(Self.directory, facts)
            let error = await #expect(throws: PressureError.self) {
                try await app.manager.saveState(to: Self.directory)
            }
            #expect(error?.code == .stateDirectoryUnusable)
        }
        base.setDirectory(Self.directory, nil)
        for path in ["", "/nowhere/at/all", "/var/tmp/\0"] {
            let error = await #expect(throws: PressureError.self) { try await app.manager.restoreState(from: path) }
            #expect(error?.code == .stateDirectoryUnusable)
        }
    }

    // MARK: The moment of death

    /// Every call to the disk in turn is the last one: the process is gone, and the next finds the old state or the new.
    @Test func killedAtAnyMomentItHoldsTheOldStateOrTheNew() async throws {
        try await save(seed: 0, version: "old")
        base.endProcess()
        var seen: Set<String> = []
        var number = 1
        while true {
            let app = try App(disk)
            try await fill(app, seed: 50)
            disk.set(.init(.error(EIO), .from(number)))
            let isSaved = (try? await app.manager.saveState(to: Self.directory, version: "new")) != nil
            let wasStruck = disk.faults > 0
            disk.set(nil)
            await app.manager.shutdown()
            base.endProcess()
            let next = try App(disk)
            next.manager.delegate = nil
            let delegate = AnyVersion()
            next.manager.delegate = delegate
            let version = try await next.manager.restoreState(from: Self.directory).version
            seen.insert(version)
            #expect(version == "new" || !isSaved)
            next.news.children.first?.removeFromParent()
            base.endProcess()
            // Back to the old state for the next round.
            if version == "new" {
                if !wasStruck { break }
                try await save(seed: 0, version: "old")
                base.endProcess()
            }
            number += number < 60 ? 1 : 7
        }
        #expect(seen == ["old", "new"])
        #expect(number > 20)
    }

    final class AnyVersion: PressureManagerDelegate {
        func shouldRestoreState(savedBy saved: String, version: String) -> Bool { true }
    }

    /// A save that fails says so and leaves the old state; the next one succeeds.
    @Test(arguments: [FaultyFileSystem.Operation.write, .rename, .synchronize, .open])
    func aSaveThatFailsLeavesTheOldState(_ operation: FaultyFileSystem.Operation) async throws {
        let app = try App(disk)
        app.page.withLock { $0 = 1 }
        try await app.manager.saveState(to: Self.directory)
        let before = base.contents(named: "\(Self.directory)/state")
        app.page.withLock { $0 = 2 }
        _ = app.news.cache("x", initialValue: makeBytes(1000, seed: 1))
        disk.set(.init(.error(ENOSPC), on: operation))
        let error = await #expect(throws: PressureError.self) { try await app.manager.saveState(to: Self.directory) }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.errno == ENOSPC)
        #expect(base.contents(named: "\(Self.directory)/state") == before)
        disk.set(nil)
        try await app.manager.saveState(to: Self.directory)
        #expect(base.contents(named: "\(Self.directory)/state") != before)
        #expect(!base.names.contains("\(Self.directory)/state.new"))
    }

    /// One that cannot be read where it is spilled is left out and named; it does not keep the others from being saved.
    @Test func aValueThatCannotBeReadIsLeftOut() async throws {
        let app = try App(disk)
        let bad = app.news.cache("bad", initialValue: makeBytes(1000, seed: 1))
        let keyed = app.news.keyedCache("keyed", key: String.self, value: [UInt8].self)
        keyed.set(makeBytes(1000, seed: 2), for: "spilled")
        _ = await app.manager.simulateMemoryWarning(.critical)
        _ = app.news.cache("good", initialValue: makeBytes(1000, seed: 3))
        for number in 1...2 {
            // The first read is of the one, the second of the other.
            _ = await app.manager.simulateMemoryWarning(.critical)
            disk.set(.init(.error(EIO), on: .read, .once(number)))
            let report = try await app.manager.saveState(to: Self.directory)
            #expect(report.failures.count == 1, "\(report.failures)")
            #expect(report.failures.map(\.path).first??.hasPrefix(number == 1 ? "news/bad" : "news/keyed") == true)
            #expect(report.caches.contains("news/good"))
            disk.set(nil)
        }
        #expect(try await app.manager.saveState(to: Self.directory).failures.isEmpty)
        #expect(bad.residency == .spilled)
        #expect(try await bad.value() == makeBytes(1000, seed: 1))
    }

    // MARK: Damage

    /// One bit anywhere, any length, a file of somebody else: refused whole, with a reason, and nothing has changed.
    @Test func aDamagedStateIsRefusedWhole() async throws {
        let small = try App(disk)
        _ = small.news.cache("x", initialValue: makeBytes(5000, seed: 1))
        try await small.manager.saveState(to: Self.directory)
        await small.manager.shutdown()
        base.endProcess()
        let path = "\(Self.directory)/state"
        let sound = try #require(base.contents(named: path))
        var random = SeededGenerator(seed: 11)
        var files: [(String, [UInt8])] = []
        // Padding between the last frame and the manifest belongs to nothing.
        let manifest = (sound.count - StateTrailer.byteCount) / 4096 * 4096
        for _ in 0..<150 {
            var bytes = sound
            let frame = 600
            let index =
                Bool.random(using: &random)
                ? Int.random(in: 0..<frame, using: &random) : Int.random(in: manifest..<sound.count, using: &random)
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            files.append(("bit of byte \(index)", bytes))
        }
        for count in [0, 1, 39, 40, 41, 4096, sound.count - 1, sound.count - 4096] where count >= 0 {
            files.append(("cut to \(count)", Array(sound.prefix(count))))
        }
        files.append(("longer", sound + [0]))
        files.append(("foreign", Array("{\"not\": \"a state, but a file that is long enough to be one\"}".utf8)))
        var future = sound
        let trailer = sound.count - StateTrailer.byteCount
        future[trailer + 4] = 2
        let sum = StateTrailer.checksum(future[trailer..<trailer + 32])
        for byte in 0..<4 { future[trailer + 32 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte))) }
        files.append(("future", future))
        for (name, bytes) in files {
            base.setContents(bytes, named: path)
            let app = try App(disk)
            let error = await #expect(throws: PressureError.self, "\(name)") {
                try await app.manager.restoreState(from: Self.directory)
            }
            #expect(error?.code == .stateRefused, "\(name)")
            if name == "future" { #expect(error?.message.contains("format 2") == true) }
            #expect(app.lines.take() == [])
            let cache = app.news.cache("x", of: [UInt8].self)
            #expect(cache.residency == .unloaded, "\(name)")
            base.endProcess()
        }
        base.setContents(sound, named: path)
        let app = try App(disk)
        try await app.manager.restoreState(from: Self.directory)
        #expect(try await app.news.cache("x", of: [UInt8].self).value() == makeBytes(5000, seed: 1))
    }

    /// On the real disk, with a real directory.
    @Test func theRealDiskDoesItToo() async throws {
        let directory = "/var/tmp/pressurekit-state-\(UInt64.random(in: 0 ... .max))"
        defer {
            for name in ["state", "state.new", "lock"] { _ = unsafe unlink("\(directory)/\(name)") }
            _ = unsafe rmdir(directory)
        }
        let value = makeBytes(1_000_000, seed: 3)
        do {
            let app = try App(LinuxFileSystem())
            _ = app.news.cache("x", initialValue: value)
            _ = await app.manager.simulateMemoryWarning(.critical)
            try await app.manager.saveState(to: directory)
            let second = try App(LinuxFileSystem())
            let error = await #expect(throws: PressureError.self) { try await second.manager.saveState(to: directory) }
            #expect(error?.code == .stateDirectoryInUse)
        }
        var information = stat()
        #expect(unsafe stat(directory, &information) == 0)
        #expect(information.st_mode & 0o7777 == 0o700)
        let app = try App(LinuxFileSystem())
        try await app.manager.restoreState(from: directory)
        let cache = app.news.cache("x", of: [UInt8].self)
        #expect(cache.residency == .spilled)
        #expect(try await cache.value() == value)
    }
}
