#if !THREAD_SANITIZER  // Makes or weighs processes.
import CTestShims
import Foundation
import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// What happens to a process as a whole: it is stopped, copied, killed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProcessEventTests {
    /// How often a process is killed; `PRESSUREKIT_KILLS` says otherwise.
    static let kills = ProcessInfo.processInfo.environment["PRESSUREKIT_KILLS"].flatMap { Int($0) } ?? 20

    /// The bytes of a value at one age of an app, which it can be asked for.
    private static func value(_ number: Int, _ age: Int) -> [UInt8] {
        let count = [40_000, 900, 300_000, 5000][number]
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: age &* 37 + number), count: count)
        for byte in 0..<8 { bytes[byte] = UInt8(truncatingIfNeeded: age >> (8 * byte)) }
        return bytes
    }

    private static func age(of bytes: [UInt8]) -> Int { (0..<8).reduce(0) { $0 | Int(bytes[$1]) << (8 * $1) } }

    /// Killed at a random moment between spilling and saving, again and again. What is found is a whole state, no older
    /// than the last one of which the process had heard that it was saved; and nothing else has a name.
    @Test func aProcessThatIsKilledLeavesTheOldStateOrTheNew() async throws {
        let (directory, elsewhere) = (try RealDirectory(), try RealDirectory())
        defer {
            directory.remove()
            elsewhere.remove()
        }
        let news = elsewhere.path + "/acknowledged"
        let seed = UInt64(Self.kills)
        var random = SeededGenerator(seed: seed)
        var ages: [Int] = []
        for round in 0..<Self.kills {
            let delay = UInt32.random(in: 0..<120_000, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = directory.path as String, news = news as String, delay = delay as UInt32, round = round as Int]
                in
                try await ProcessEventTests.live(in: path, from: round * 10_000, killedAfter: delay, telling: news)
            }
            #expect(Set(directory.names).isSubset(of: ["state"]), "round \(round)")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path + "/state")) ?? []
            let unfinished = names.filter { $0.hasPrefix("state.new-") }
            #expect(unfinished.count <= 1, "round \(round): \(names)")
            #expect(Set(names).subtracting(unfinished).isSubset(of: ["lock", "state"]), "round \(round): \(names)")
            let text = try? String(contentsOfFile: news, encoding: .utf8)
            let acknowledged = text.flatMap { Int($0) } ?? 0
            let age = try await Self.savedAge(in: directory.path)
            #expect(age >= acknowledged, "round \(round): \(age) was found, \(acknowledged) was saved")
            ages.append(age)
        }
        #expect(Set(ages).count > 1, "it never got to save: the test tests nothing")
        figure("kills: \(Self.kills), \(Set(ages).count) different states found")
    }

    /// The life of the process that is killed: it spills, restores, changes and saves until then.
    private static func live(in path: String, from age: Int, killedAfter delay: UInt32, telling news: String)
        async throws
    {
        let manager = try makeManager(fileSystem: LinuxFileSystem(), workers: 2) { $0.spillDirectory = path }
        let controller = try addController("app", to: manager.root)
        let caches = try (0..<4).map { try controller.cache("\($0)", of: [UInt8].self) }
        try WorkerThread.spawn("killer") {
            usleep(delay)
            kill(getpid(), SIGKILL)
        }
        var age = age
        while true {
            age += 1
            for (number, cache) in caches.enumerated() { try cache.set(value(number, age)) }
            _ = await manager.simulateMemoryWarning(.critical)
            try caches[age % 4].loadIfNeeded()
            _ = try await manager.saveState(to: path + "/state", version: "1")
            // Replaced in one step, as its reader wants it whole.
            try "\(age)".write(toFile: news, atomically: true, encoding: .utf8)
        }
    }

    /// The age of the state that the next process finds, all of it; 0 if there is none.
    private static func savedAge(in path: String) async throws -> Int {
        let manager = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
        let controller = try addController("app", to: manager.root)
        let report = try await manager.restoreState(from: path + "/state", version: "1")
        guard report.isFound else { return 0 }
        let caches = try (0..<4).map { try controller.cache("\($0)", of: [UInt8].self) }
        let found = try caches.map { try $0.withValue { $0 } }
        let age = age(of: found[0])
        for number in found.indices {
            #expect(isSame(found[number], value(number, age)), "value \(number) is of another age than \(age)")
        }
        return age
    }

    /// Stopped and continued again and again, in the middle of reclaims, restores and saves.
    @Test func aProcessThatIsStoppedGoesOnWhereItWas() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let manager = try makeManager(fileSystem: LinuxFileSystem(), workers: 2) { $0.spillDirectory = path }
            let controller = try addController("app", to: manager.root)
            let values = (0..<4).map { makeBytes(500_000, seed: UInt64($0)) }
            let caches = try values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
            let tormentor = Process()
            tormentor.executableURL = URL(filePath: "/bin/sh")
            tormentor.arguments = [
                "-c", "for i in $(seq 40); do kill -STOP $0 && sleep 0.005; kill -CONT $0; sleep 0.005; done",
                "\(getpid())",
            ]
            try tormentor.run()
            repeat {
                let report = await manager.simulateMemoryWarning(.critical)
                require(report.failures.isEmpty, "\(report)")
                _ = try await manager.saveState(to: path + "/state")
                for (cache, value) in zip(caches, values) {
                    require(try cache.withValue { isSame($0, value) }, "wrong bytes")
                }
            } while tormentor.isRunning
            exit(0)
        }
    }

    /// A child made by fork(2) shares the file: what it does must not touch what its parent has there.
    @Test func aChildOfForkDoesNotWriteToItsParentsFile() async throws {
        let directory = try RealDirectory()
        defer { directory.remove() }
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            let manager = try makeManager(fileSystem: LinuxFileSystem()) { $0.spillDirectory = path }
            let controller = try addController("app", to: manager.root)
            let cache = try controller.keyedCache(
                "mine",
                key: Int.self,
                value: [UInt8].self,
                options: .init(limit: .kibibytes(64))
            )
            func value(_ key: Int, _ age: UInt64) -> [UInt8] {
                makeBytes(20_000, seed: UInt64(key) + age, randomBits: 8)
            }
            for key in 0..<8 { cache.set(value(key, 0), for: key) }
            require((0..<8).contains { cache.residency(for: $0) == .spilled }, "nothing was spilled")
            let child = pk_fork()
            if child == 0 {
                // Its own values: they stay in memory, whatever the limit.
                for key in 0..<12 { cache.set(value(key, 100), for: key) }
                for key in 0..<12 where !((try? cache.withValue(for: key) { isSame($0, value(key, 100)) }) ?? false) {
                    _exit(2)
                }
                _exit(0)
            }
            var status: CInt = 0
            // The status is this function's own.
            unsafe waitpid(child, &status, 0)
            require(status == 0, "the child ended with \(status)")
            for key in 0..<8 {
                require(try cache.withValue(for: key) { isSame($0, value(key, 0)) }, "value \(key) is the child's")
            }
            exit(0)
        }
    }
}
#endif
