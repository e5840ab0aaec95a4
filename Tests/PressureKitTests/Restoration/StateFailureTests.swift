import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A process that dies, a disk that fails, a file that was damaged: the old state or the new, never half of one.
@Suite(.timeLimit(.minutes(15))) struct StateFailureTests {
    private typealias App = StateBench.App
    private let bench = StateBench()

    // MARK: The moment of death

    /// Every call to the disk in turn is the last one: the process is gone, and the next finds the old state or the new.
    @Test func killedAtAnyMomentItHoldsTheOldStateOrTheNew() async throws {
        try await bench.save(seed: 0, version: "old")
        bench.base.endProcess()
        var seen: Set<String> = []
        var number = 1
        while true {
            let app = try App(bench.disk)
            try await bench.fill(app, seed: 50)
            bench.disk.set(.init(.error(EIO), .from(number)))
            let isSaved = (try? await app.manager.saveState(to: StateBench.directory, version: "new")) != nil
            let wasStruck = bench.disk.faults > 0
            bench.disk.set(nil)
            await app.manager.shutdown()
            bench.base.endProcess()
            let next = try App(bench.disk)
            next.manager.delegate = nil
            let delegate = AnyVersion()
            next.manager.delegate = delegate
            let version = try await next.manager.restoreState(from: StateBench.directory).version
            seen.insert(version)
            #expect(version == "new" || !isSaved)
            next.news.children.first?.removeFromParent()
            bench.base.endProcess()
            // Back to the old state for the next round.
            if version == "new" {
                if !wasStruck { break }
                try await bench.save(seed: 0, version: "old")
                bench.base.endProcess()
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
        let app = try App(bench.disk)
        app.page.withLock { $0 = 1 }
        try await app.manager.saveState(to: StateBench.directory)
        let before = bench.base.contents(named: "\(StateBench.directory)/state")
        app.page.withLock { $0 = 2 }
        _ = try app.news.cache("x", initialValue: makeBytes(1000, seed: 1))
        bench.disk.set(.init(.error(ENOSPC), on: operation))
        let error = await #expect(throws: PressureError.self) {
            try await app.manager.saveState(to: StateBench.directory)
        }
        #expect(error?.code == .stateNotSaved)
        #expect(error?.errno == ENOSPC)
        #expect(error?.cause != nil, "what led to it is there to be looked at")
        #expect(bench.base.contents(named: "\(StateBench.directory)/state") == before)
        bench.disk.set(nil)
        try await app.manager.saveState(to: StateBench.directory)
        #expect(bench.base.contents(named: "\(StateBench.directory)/state") != before)
        #expect(Set(try bench.base.names(in: StateBench.directory)) == ["lock", "state"])
    }

    /// One that cannot be read where it is spilled is left out and named; it does not keep the others from being saved.
    @Test func aValueThatCannotBeReadIsLeftOut() async throws {
        let app = try App(bench.disk)
        let bad = try app.news.cache("bad", initialValue: makeBytes(1000, seed: 1))
        let keyed = try app.news.keyedCache("keyed", key: String.self, value: [UInt8].self)
        keyed.set(makeBytes(1000, seed: 2), for: "spilled")
        _ = await app.manager.simulateMemoryWarning(.critical)
        _ = try app.news.cache("good", initialValue: makeBytes(1000, seed: 3))
        // The first read is of the one, the second checks what was written of it, the third is of the other.
        for (number, path) in [(1, "news/bad"), (3, "news/keyed")] {
            _ = await app.manager.simulateMemoryWarning(.critical)
            bench.disk.set(.init(.error(EIO), on: .read, .once(number)))
            let report = try await app.manager.saveState(to: StateBench.directory)
            #expect(report.failures.count == 1, "\(report.failures)")
            #expect(report.failures.map(\.path).first??.hasPrefix(path) == true)
            #expect(report.caches.contains("news/good"))
            bench.disk.set(nil)
        }
        #expect(try await app.manager.saveState(to: StateBench.directory).failures.isEmpty)
        #expect(bad.residency == .spilled)
        #expect(try await bad.value() == makeBytes(1000, seed: 1))
    }

    /// What to do about one that is left out depends on whether a loader makes it.
    @Test func aReportSaysWhetherALoaderMakesWhatIsLeftOut() async throws {
        let app = try App(bench.disk)
        let options = CacheOptions(supportedDispositions: .spill)
        let made = try app.news.cache("made", options: options) { makeBytes(1000, seed: 1) }
        try made.loadIfNeeded()
        _ = await app.manager.simulateMemoryWarning(.critical)
        try #require(made.residency == .spilled)
        bench.disk.set(.init(.error(EIO), on: .read, .once(1)))
        let report = try await app.manager.saveState(to: StateBench.directory)
        #expect(report.failures.map(\.path) == ["news/made"])
        #expect(report.failures.first?.message.hasSuffix("the cache's loader makes the value again.") == true)
    }

    // MARK: Damage

    /// One bit anywhere, any length, a file of somebody else: refused whole, with a reason, and nothing has changed.
    @Test func aDamagedStateIsRefusedWhole() async throws {
        let small = try App(bench.disk)
        _ = try small.news.cache("x", initialValue: makeBytes(5000, seed: 1))
        try await small.manager.saveState(to: StateBench.directory)
        await small.manager.shutdown()
        bench.base.endProcess()
        let path = "\(StateBench.directory)/state"
        let sound = try #require(bench.base.contents(named: path))
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
        future[trailer + 4] = UInt8(StateTrailer.version + 1)
        let sum = StateTrailer.checksum(future[trailer..<trailer + 32])
        for byte in 0..<4 { future[trailer + 32 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte))) }
        files.append(("future", future))
        for (name, bytes) in files {
            bench.base.setContents(bytes, named: path)
            let app = try App(bench.disk)
            let error = await #expect(throws: PressureError.self, "\(name)") {
                try await app.manager.restoreState(from: StateBench.directory)
            }
            #expect(error?.code == .stateRefused, "\(name)")
            if name == "future" { #expect(error?.message.contains("format \(StateTrailer.version + 1)") == true) }
            #expect(app.lines.take() == [])
            let cache = try app.news.cache("x", of: [UInt8].self)
            #expect(cache.residency == .unloaded, "\(name)")
            bench.base.endProcess()
        }
        bench.base.setContents(sound, named: path)
        let app = try App(bench.disk)
        try await app.manager.restoreState(from: StateBench.directory)
        #expect(try await app.news.cache("x", of: [UInt8].self).value() == makeBytes(5000, seed: 1))
    }
}
