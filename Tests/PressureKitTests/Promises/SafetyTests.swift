import Glibc
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

/// P1, P3 and P4: nothing is lost, whatever the disk does.
@Suite(.timeLimit(.minutes(15))) struct SafetyTests {
    static let faults: [FaultyFileSystem.Fault] = [
        .error(ENOSPC), .error(EDQUOT), .error(EIO), .error(EFBIG), .error(ENOMEM), .short, .lyingWrite,
    ]

    /// P1, P3: every n-th write fails in turn, until a run has no fault; after each the values are intact.
    @Test(arguments: faults)
    func noFailingWriteLosesAValue(_ fault: FaultyFileSystem.Fault) async throws {
        var number = 1
        while true {
            let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
            let manager = try makeManager(fileSystem: disk)
            let controller = try addController("app", to: manager.root)
            let values = [
                makeBytes(700_000, seed: 1), makeBytes(3000, seed: 2), makeBytes(90_000, seed: 3, randomBits: 8),
            ]
            let caches = try values.enumerated().map { try controller.cache("\($0.offset)", initialValue: $0.element) }
            disk.set(.init(fault, on: .write, .once(number)))
            let report = await manager.simulateMemoryWarning(.critical)
            let faults = disk.faults
            disk.set(nil)
            for (cache, value) in zip(caches, values) {
                let back = try await cache.value()
                #expect(back == value, "write \(number): \(fault)")
            }
            // A short write is finished by the next; the others fail the spill of one value and name it.
            #expect(report.failures.count == (fault == .short ? 0 : faults))
            #expect(report.failures.filter { $0.path?.hasPrefix("app/") != true } == [])
            #expect(report.skipped.count >= report.failures.count)
            let kept = report.skipped.reduce(0) { $0 + $1.bytes.bytes }
            #expect(report.claimed.bytes + kept == values.reduce(0) { $0 + $1.count })
            if faults == 0 { return }
            number += 1
        }
    }

    /// P3: a disk that stays full suspends writing; when there is room again the values go.
    @Test func aFullDiskIsLeftAloneForAWhileAndTriedAgain() async throws {
        let clock = ManualClock()
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk) { $0.clock = clock }
        let controller = try addController("app", to: manager.root)
        let caches = try (0..<20).map { try controller.cache("\($0)", initialValue: makeBytes(5000, seed: UInt64($0))) }
        let before = disk.calls(.write)
        disk.set(.init(.error(ENOSPC), on: .write))
        let first = await manager.simulateMemoryWarning(.critical)
        #expect(first.claimed == .zero)
        #expect(first.failures.map(\.code) == [.diskFull])
        #expect(first.failures.first?.errno == ENOSPC)
        let writes = disk.calls(.write)
        #expect(writes - before < 5, "a full disk was hammered")

        let second = await manager.simulateMemoryWarning(.critical)
        #expect(disk.calls(.write) == writes)
        #expect(second.skipped.count == 20)
        #expect(Set(second.skipped.map(\.reason)) == [.spillSuspended])

        disk.set(nil)
        clock.advance(by: .seconds(2))
        let third = await manager.simulateMemoryWarning(.critical)
        #expect(third.claimed == .bytes(100_000))
        for (index, cache) in caches.enumerated() {
            #expect(try await cache.value() == makeBytes(5000, seed: UInt64(index)))
        }
    }

    /// With the disk out of order, what can be made again is dropped, and what cannot stays.
    @Test(arguments: LoaderKind.allCases)
    func aBrokenDiskCostsOnlyWhatCanBeLoadedAgain(_ kind: LoaderKind) async throws {
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk) { $0.clock = ManualClock() }
        let controller = try addController("app", to: manager.root)
        let mine = try (0..<4).map {
            try controller.cache("mine\($0)", initialValue: makeBytes(5000, seed: UInt64($0)))
        }
        let loaded = try controller.cache("loaded", kind) { makeBytes(5000, seed: 9) }
        _ = try await loaded.value()
        disk.set(.init(.error(EIO), on: .write))
        let report = await manager.simulateMemoryWarning(.critical)
        // In the same reclaim: the next warning may come too late.
        #expect(report.evicted.map(\.path) == ["app/loaded"])
        #expect(report.evicted.map(\.outcome) == [.dropped])
        #expect(mine.map(\.isLoaded) == [true, true, true, true])
        #expect(try await loaded.value() == makeBytes(5000, seed: 9))
    }

    /// P4: a copy that cannot be read is rebuilt by the loader.
    @Test(arguments: [FaultyFileSystem.Fault.error(EIO), .bitFlip], LoaderKind.allCases)
    func anUnreadableCopyIsRebuiltByTheLoader(_ fault: FaultyFileSystem.Fault, _ kind: LoaderKind) async throws {
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: disk) { $0.clock = clock }
        let controller = try addController("app", to: manager.root)
        let loads = Atomic<Int>(0)
        let cache = try controller.cache("value", kind) { () -> [UInt8] in
            loads.wrappingAdd(1, ordering: .relaxed)
            // So that a copy is worth it.
            clock.advance(by: .seconds(1))
            return makeBytes(50_000, seed: 4)
        }
        _ = try await cache.value()
        var events = manager.events.makeAsyncIterator()
        try await spill(cache, manager)
        disk.set(.init(fault, on: .read))
        #expect(try await cache.value() == makeBytes(50_000, seed: 4))
        #expect(loads.load(ordering: .relaxed) == 2)
        var failure: PressureError?
        while failure == nil, let event = await events.next() {
            if case .failure(let error) = event { failure = error }
        }
        #expect(failure?.path == "app/value")
        #expect(failure?.code == (fault == .bitFlip ? .damagedCopy : .restoreFailed))
    }

    /// P4: without a loader the reader gets a typed error that names the path, every other cache goes on, and a fault
    /// that passes costs nothing.
    @Test func anUnreadableCopyWithoutALoaderIsATypedError() async throws {
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk)
        let controller = try addController("app", to: manager.root)
        let value = makeBytes(300_000, seed: 5)
        let cache = try controller.cache("mine", initialValue: value)
        let other = try controller.cache("other", initialValue: makeBytes(1000, seed: 6))
        _ = await manager.simulateMemoryWarning(.critical)
        disk.set(.init(.error(EIO), on: .read))
        for _ in 0..<3 {
            let error = await #expect(throws: PressureError.self) { try await cache.value() }
            #expect(error?.code == .restoreFailed)
            #expect(error?.path == "app/mine")
            #expect(error?.errno == EIO)
        }
        #expect(cache.residency == .spilled)
        disk.set(nil)
        #expect(try await cache.value() == value)
        #expect(try await other.value() == makeBytes(1000, seed: 6))
    }

    /// P4: damaged bytes are never passed on.
    @Test func damageIsDetectedAndNeverReturned() async throws {
        let disk = InMemoryFileSystem()
        let manager = try makeManager(fileSystem: disk)
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("mine", initialValue: makeBytes(300_000, seed: 5))
        _ = await manager.simulateMemoryWarning(.critical)
        disk.damageEverything()
        let error = await #expect(throws: PressureError.self) { try await cache.value() }
        #expect(error?.code == .damagedCopy)
        #expect(error?.path == "app/mine")
        try cache.set([1])
        #expect(try await cache.value() == [1])
    }

    /// A value that will not give its bytes stays.
    @Test func aValueThatCannotBeEncodedStaysInMemory() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem())
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache(
            "nan",
            initialValue: Coded([Double.nan], footprint: .kibibytes(1), coding: .json)
        )
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.skipped.map(\.reason) == [.spillFailed])
        #expect(report.failures.map(\.code) == [.spillFailed])
        #expect(try await cache.value().value[0].isNaN)
    }

    /// Makes sure the value is written, not dropped.
    private func spill(_ cache: EitherCache, _ manager: PressureManager) async throws {
        let report = await manager.simulateMemoryWarning(.critical)
        try #require(report.evicted.map(\.outcome) == [.spilled])
        #expect(cache.residency() == .spilled)
    }
}
