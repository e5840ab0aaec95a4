import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Memory is needed sooner than a large value can be copied.
@Suite struct AbandonedCopyTests {
    /// A batch that comes to be hurried after so many writes of a value of 4 MiB, which has sixteen chunks.
    private func batch(
        hurriedAfter writes: Int,
        isLoaded: Bool
    ) throws -> (freed: Int, writes: Int, manager: PressureManager, cache: LazyCache<[UInt8]>) {
        let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
        let manager = try makeManager(fileSystem: disk) { $0.supportedDispositions = [.keep, .spill] }
        let bytes = makeBytes(4 << 20, seed: 1, randomBits: 6)
        let cache: LazyCache<[UInt8]> =
            isLoaded ? try manager.root.cache("value") { bytes } : try manager.root.cache("value", initialValue: bytes)
        try cache.loadIfNeeded()
        let before = disk.calls(.write)
        let batch = ReclaimBatch(goal: 1 << 20, isHurried: { disk.calls(.write) >= before + writes })
        let freed = manager.context.engine.reclaim(batch, root: manager.root)
        #expect(try cache.value() == bytes)
        return (freed, disk.calls(.write) - before, manager, cache)
    }

    @Test func whatCanBeMadeAgainIsGivenUpBetweenTwoChunks() throws {
        let (freed, writes, manager, cache) = try batch(hurriedAfter: 3, isLoaded: true)
        #expect(freed == 0 && writes < 8)
        #expect(cache.residency == .resident)
        let snapshot = manager.snapshot()
        #expect(snapshot.stored == .zero, "what was written is free again")
        #expect(snapshot.controllers.flatMap(\.caches).allSatisfy { $0.failures == 0 })
        // And another time it goes.
        let more = manager.context.engine.reclaim(ReclaimBatch(goal: 1 << 20), root: manager.root)
        #expect(more >= 4 << 20 && cache.residency == .spilled)
    }

    @Test func whatNobodyMakesAgainIsWrittenToItsEnd() throws {
        let (freed, writes, _, _) = try batch(hurriedAfter: 3, isLoaded: false)
        #expect(freed >= 4 << 20 && writes >= 16)
    }
}
