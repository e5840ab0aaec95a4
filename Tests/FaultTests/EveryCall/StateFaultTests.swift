#if !THREAD_SANITIZER  // One thread at a time.
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Saving and restoring state on a disk that fails at every call in turn.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct StateFaultTests {
    static let directory = "/var/tmp/state"

    /// The values of an app at one time in its life.
    private static func values(_ age: UInt64) -> [(name: String, bytes: [UInt8])] {
        [270_000, 20_000, 700].enumerated().map {
            ("mine\($0.offset)", makeBytes($0.element, seed: age + UInt64($0.offset)))
        }
    }

    private static let keys = 0..<4

    private static func keyed(_ key: Int, _ age: UInt64) -> [UInt8] { makeBytes(1500, seed: age + 50 + UInt64(key)) }

    /// Fills an app; half of it is spilled, so that copies are taken over.
    private static func fill(_ bench: FaultBench, _ age: UInt64) async throws {
        let values = values(age)
        try bench.add(values[0].name, values[0].bytes)
        let tiles = try bench.controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        for key in keys {
            tiles.set(keyed(key, age), for: key)
            bench.track(key, of: tiles, keyed(key, age), from: { $0 }, to: { $0 })
        }
        await bench.warn()
        for value in values[1...] { try bench.add(value.name, value.bytes) }
    }

    /// The age of what an app was given back, if it is all of one age.
    private static func age(_ bench: FaultBench, of ages: [UInt64]) throws -> UInt64? {
        let caches = try values(0).map { try bench.controller.cache($0.name, of: [UInt8].self) }
        let tiles = try bench.controller.keyedCache("tiles", key: Int.self, value: [UInt8].self)
        let found = try caches.map { try $0.withValue { $0 } }
        let foundByKey = try keys.map { try tiles.withValue(for: $0) { $0 } }
        defer {
            for cache in caches { try? cache.invalidate() }
            for key in keys { tiles.invalidate(for: key) }
        }
        return ages.first { age in
            zip(found, values(age)).allSatisfy { isSame($0, $1.bytes) }
                && zip(foundByKey, keys).allSatisfy { isSame($0, keyed($1, age)) }
        }
    }

    /// Runs `body` for each kind of fault and each call, until no call is struck.
    private func failEveryCall(_ body: (_ rule: FaultyFileSystem.Rule, _ context: String) async throws -> Int)
        async throws
    {
        var (runs, faults) = (0, 0)
        for kind in EveryCallFailsTests.kinds {
            for isLasting in kind.lasts ? [false, true] : [false] {
                var number = 0
                while true {
                    number += isLasting ? EveryCallFailsTests.strideOfLasting : 1
                    let occurrence: FaultyFileSystem.Occurrence = isLasting ? .from(number) : .once(number)
                    let rule = FaultyFileSystem.Rule(kind.fault(number), on: kind.operation, occurrence)
                    let struck = try await body(rule, "\(kind.name), call \(number)\(isLasting ? " and on" : "")")
                    (runs, faults) = (runs + 1, faults + struck)
                    if struck == 0 { break }
                    try #require(number < 1000, "it never comes through")
                }
            }
        }
        #expect(faults > 0)
        figure("every call fails: state: \(runs) runs, \(faults) faults")
    }

    @Test func aStateThatIsSavedOnAFailingDiskIsTheOldOneOrTheNew() async throws {
        try await failEveryCall { rule, context in
            let base = InMemoryFileSystem()
            let before = try FaultBench(on: base)
            try await Self.fill(before, 0)
            try await before.manager.saveState(to: Self.directory)
            await before.manager.shutdown()
            base.endProcess()

            let bench = try FaultBench(on: base)
            try await Self.fill(bench, 1000)
            bench.disk.set(rule)
            var failure: PressureError?
            do throws(PressureError) {
                let report = try await bench.manager.saveState(to: Self.directory)
                // A value that could not be read is left out, and named.
                if !report.failures.isEmpty {
                    let struck = bench.disk.faults
                    base.endProcess()
                    return struck
                }
            } catch {
                failure = error
            }
            let struck = bench.disk.faults
            bench.disk.set(nil)
            for value in bench.values { value.check(mayFail: false, context) }
            await bench.manager.shutdown()
            base.endProcess()

            let after = try FaultBench(on: base)
            try await after.manager.restoreState(from: Self.directory)
            let age = try Self.age(after, of: [0, 1000])
            let isOld = failure.map { !$0.message.contains("is the new one") } ?? false
            #expect(age == (isOld ? 0 : 1000), "\(context): \(failure.map { "\($0)" } ?? "saved")")
            if let failure {
                let codes: [PressureError.Code] = [.stateNotSaved, .stateDirectoryUnusable, .stateDirectoryInUse]
                #expect(codes.contains(failure.code), "\(context): \(failure)")
            }
            // What was left of a failed one goes with the next.
            _ = try await after.manager.saveState(to: Self.directory)
            #expect(Set(try base.names(in: Self.directory)) == ["lock", "state"], "\(context)")
            #expect(base.openFiles == 2, "\(context)")
            return struck
        }
    }

    @Test func aStateThatIsRestoredFromAFailingDiskIsAppliedWholeOrNotAtAll() async throws {
        let saved = InMemoryFileSystem()
        let before = try FaultBench(on: saved)
        try await Self.fill(before, 0)
        try await before.manager.saveState(to: Self.directory)
        await before.manager.shutdown()
        saved.endProcess()
        let state = try #require(saved.contents(named: "\(Self.directory)/state"))
        try await failEveryCall { rule, context in
            let base = InMemoryFileSystem()
            base.setDirectory(Self.directory, try saved.directoryFacts(Self.directory))
            base.setContents(state, named: "\(Self.directory)/state")
            let bench = try FaultBench(on: base)
            bench.disk.set(rule)
            var failure: PressureError?
            do throws(PressureError) {
                let report = try await bench.manager.restoreState(from: Self.directory)
                #expect(report.isFound, "\(context)")
            } catch {
                failure = error
            }
            let struck = bench.disk.faults
            bench.disk.set(nil)
            if let failure {
                // EAGAIN is flock(2)'s word for a lock that somebody has.
                let codes: [PressureError.Code] = [.stateRefused, .stateDirectoryUnusable, .stateDirectoryInUse]
                #expect(codes.contains(failure.code), "\(context): \(failure)")
                let probe = try bench.controller.cache("mine0", of: [UInt8].self)
                #expect(probe.residency == .unloaded, "\(context)")
                bench.controller.removeCache(probe)
                #expect(base.openFiles <= 2, "\(context)")
                try await bench.manager.restoreState(from: Self.directory)
            }
            #expect(try Self.age(bench, of: [0]) == 0, "\(context)")
            // The spill file and the lock: the state is closed once nobody has a value there.
            #expect(base.openFiles == 2, "\(context)")
            return struck
        }
    }
}
#endif
