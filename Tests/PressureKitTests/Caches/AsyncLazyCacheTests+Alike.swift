import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit
@testable import PressureSystem

/// What holds for these caches as for all others.
extension AsyncLazyCacheTests {
    /// Dropped when loading is cheaper than writing and reading, spilled when it is not, as measured.
    @Test(arguments: [(Duration.zero, Residency.unloaded), (.seconds(5), .spilled)])
    func itLeavesMemoryInTheCheaperWay(_ cost: Duration, _ residency: Residency) async throws {
        let value = makeBytes(100_000, seed: 1)
        let cache = try controller.cache("value") { [clock, gate, loads] in
            loads.change { $0 += 1 }
            await gate.pass()
            clock.advance(by: cost)
            return value
        }
        gate.open()
        #expect(try await cache.value() == value)
        #expect(cache.entry.statistics.loadTime == cost)
        #expect(cache.entry.statistics.expectedFootprint == 100_000)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.claimed == .bytes(100_000))
        #expect(cache.residency == residency)
        let readers = (0..<20).map { _ in Task { try await cache.value() } }
        for reader in readers { #expect(try await reader.value == value) }
        #expect(loads.value == (residency == .spilled ? 1 : 2))
        #expect(cache.entry.statistics.restores.load(ordering: .relaxed) == (residency == .spilled ? 1 : 0))
        #expect(cache.entry.state.pins == 0)
    }

    /// P4: a copy that cannot be read is made again by the loader, once for all who wait.
    @Test func aDamagedCopyIsLoadedAgain() async throws {
        let value = makeBytes(100_000, seed: 1)
        let cache = try controller.cache("value") { [clock, gate, loads] in
            loads.change { $0 += 1 }
            await gate.pass()
            clock.advance(by: .seconds(5))
            return value
        }
        gate.open()
        _ = try await cache.value()
        _ = await manager.simulateMemoryWarning(.critical)
        try #require(cache.residency == .spilled)
        disk.set(.init(.bitFlip, on: .read))
        let readers = (0..<20).map { _ in Task { try await cache.value() } }
        for reader in readers { #expect(try await reader.value == value) }
        #expect(loads.value == 2)
        #expect(cache.entry.state.pins == 0)
    }

    /// And one that no loader makes stays where it is.
    @Test func aDamagedCopyOfWhatWasSetIsAnErrorForAllReaders() async throws {
        let cache = try gated()
        let value = makeBytes(100_000, seed: 1)
        try await cache.set(value)
        _ = await manager.simulateMemoryWarning(.critical)
        try #require(cache.residency == .spilled)
        disk.set(.init(.bitFlip, on: .read))
        let readers = (0..<20).map { _ in Task { try await cache.value() } }
        for reader in readers {
            let error = await #expect(throws: PressureError.self) { try await reader.value }
            #expect(error?.path == "app/value")
        }
        #expect(loads.value == 0)
        disk.set(nil)
        #expect(try await cache.value() == value)
    }

    @Test func aLighterValueIsLoadedWhileMemoryIsShort() async throws {
        let cache = try controller.cache(
            "picture",
            alternate: { [gate] in
                await gate.pass()
                return makeBytes(10, seed: 1)
            },
            loader: { [gate] in
                await gate.pass()
                return makeBytes(1000, seed: 1)
            }
        )
        gate.open()
        #expect(try await cache.withVariant { ($0.count, $1) } == (1000, .full))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .unloaded)
        await setLevel(.warning)
        #expect(try await cache.withVariant { ($0.count, $1) } == (10, .alternate))
        #expect(cache.variant == .alternate)
        let lease = try await cache.lease()
        await setLevel(.normal)
        while cache.variant != .full { await Task.yield() }
        #expect(try await cache.value() == makeBytes(1000, seed: 1))
        #expect(lease.value.count == 10, "who has the lighter one keeps it")
        #expect(cache.entry.state.isReloadable)
    }

    @Test func aLighterValueThatWasChangedStays() async throws {
        let cache = try controller.cache(
            "picture",
            alternate: { [gate] () async throws -> [UInt8] in
                await gate.pass()
                return [1]
            },
            loader: { [gate] in
                await gate.pass()
                return [1, 2, 3]
            }
        )
        gate.open()
        await setLevel(.critical)
        try await cache.update { $0.append(9) }
        await setLevel(.normal)
        try await cache.entry.bringFullBackSuspending()
        #expect(try await cache.value() == [1, 9])
    }

    /// Makes the level what is said, as the monitor would.
    private func setLevel(_ level: PressureLevel) async {
        let before = manager.context.scene.level
        let cause = PressureCause(origin: .simulated, source: "test", levelBefore: before, levelAfter: level)
        let decision = PressureDecision(cause: cause, score: 0, reclaim: nil)
        _ = await manager.perform(ReclaimRequest(decision, share: 0.25, context: manager.context))
    }

    /// Saved with the state, and restored from it: what was loading is left out, and no save waits for it.
    @Test func itIsSavedAndRestored() async throws {
        let disk = InMemoryFileSystem()
        func app() throws -> (PressureManager, AsyncLazyCache<[UInt8]>, AsyncKeyedCache<Int, [UInt8]>) {
            let manager = try makeManager(fileSystem: disk)
            let controller = try addController("app", to: manager.root)
            let one = try controller.cache("one") { [gate, loads] () async throws -> [UInt8] in
                loads.change { $0 += 1 }
                try await gate.passUnlessCancelled()
                return [1]
            }
            let many = try controller.keyedCache("many") { [gate, loads] (key: Int) in
                loads.change { $0 += 1 }
                try await gate.passUnlessCancelled()
                return [UInt8(key)]
            }
            return (manager, one, many)
        }
        let (first, one, many) = try app()
        try await one.set([7])
        for key in 0..<5 { await many.set([UInt8(key), 1], for: key) }
        let reader = Task { try await many.value(for: 9) }
        await gate.untilArrivals(1)
        _ = await first.simulateMemoryWarning(.critical)
        #expect(one.residency == .spilled && many.residency(for: 3) == .spilled)
        let report = try await first.saveState(to: "/var/tmp/state")
        #expect(Set(report.caches) == ["app/one", "app/many"])
        reader.cancel()
        _ = await reader.result
        await first.shutdown()
        disk.endProcess()

        let (second, oneAgain, manyAgain) = try app()
        _ = try await second.restoreState(from: "/var/tmp/state")
        #expect(oneAgain.residency == .spilled)
        #expect(try await oneAgain.value() == [7])
        #expect(manyAgain.count == 5)
        for key in 0..<5 { #expect(try await manyAgain.value(for: key) == [UInt8(key), 1]) }
        #expect(loads.value == 1, "none but the one that was left out")
        await second.shutdown()
    }

    /// What appears is restored ahead, and no loader runs for it.
    @Test(arguments: [false, true]) func whatAppearsComesBackBeforeItIsAskedFor(_ isSequential: Bool) async throws {
        let value = makeBytes(10_000, seed: 1)
        let spilled = try gated("spilled")
        let unloaded = try gated("unloaded")
        try await spilled.set(value)
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(spilled.residency == .spilled)
        if isSequential {
            let report = await RestoreReport.inTurn([spilled.entry, unloaded.entry])
            #expect(report.failures.isEmpty)
        } else {
            controller.appear()
            while spilled.residency != .resident { await Task.yield() }
        }
        #expect(spilled.residency == .resident)
        #expect(unloaded.residency == .unloaded && loads.value == 0)
        #expect(try await spilled.value() == value)
    }

    @Test func expectNoLossFindsWhatAsyncCachesHave() async throws {
        let value = makeBytes(100_000, seed: 1)
        let cache = try controller.cache("value") { [gate, clock] in
            await gate.pass()
            clock.advance(by: .seconds(5))
            return value
        }
        gate.open()
        _ = try await cache.value()
        try await expectNoLoss(in: manager.root) { _ = await manager.simulateMemoryWarning(.critical) }
        #expect(cache.residency == .resident || cache.residency == .spilled)
    }
}

extension RestoreReport {
    /// As where one thing is done at a time, off the cooperative pool.
    fileprivate static func inTurn(_ entries: [CacheEntry]) async -> RestoreReport {
        await withCheckedContinuation { continuation in
            BlockingPool.errands.submit {
                continuation.resume(returning: RestoreReport(bringingBackInTurn: entries) { true })
            }
        }
    }
}
