import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// The thread that frees memory does not write itself while it keeps a full cache: with a disk that does not answer, it goes on.
@Suite(.timeLimit(.minutes(2))) struct WritingAsideTests {
    private let clock = ManualClock()
    private let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())

    private func make(dispositions: Disposition = .all) throws -> (PressureManager, KeyedCache<Int, PageBuffer>) {
        let manager = try makeManager(fileSystem: disk) {
            ($0.clock, $0.supportedDispositions) = (clock, dispositions)
        }
        let cache = try manager.root.keyedCache("values") { [clock] (key: Int) in
            // So long that a copy is worth its writing.
            clock.advance(by: .milliseconds(100))
            return PageBuffer(makeBytes(64 << 10, seed: UInt64(key), randomBits: 8))
        }
        for key in 0..<64 { try cache.loadIfNeeded(for: key) }
        return (manager, cache)
    }

    /// A batch of eight values, of which the first write does not end before so many values have left, or after two seconds.
    private func batch(
        _ manager: PressureManager,
        _ cache: KeyedCache<Int, PageBuffer>,
        holdingUntil gone: Int,
        isHurried: Bool
    ) -> (freed: Int, writes: Int, wasReached: Bool, kept: Int) {
        let before = disk.calls(.write)
        let wasReached = Shared(false)
        let isFirst = Shared(true)
        let kept = Shared(0)
        disk.setInterceptor { operation in
            guard operation == .write, isFirst.value else { return }
            isFirst.set(false)
            for _ in 0..<200 where !wasReached.value {
                usleep(10_000)
                guard cache.statistics.evictions >= gone else { continue }
                kept.set(WarmPages.shared.byteCount)
                wasReached.set(true)
            }
        }
        let batch = ReclaimBatch(
            goal: 8 * 64 << 10,
            isUrgent: false,
            isHurried: { isHurried && !isFirst.value && cache.statistics.evictions < gone }
        )
        let freed = manager.context.engine.reclaim(batch, root: manager.root)
        disk.setInterceptor(nil)
        return (freed, disk.calls(.write) - before, wasReached.value, kept.value)
    }

    @Test func whileADiskDoesNotAnswerWhatCanBeMadeAgainGoesWithoutACopy() throws {
        let (manager, cache) = try make()
        let (freed, writes, wasReached, kept) = batch(manager, cache, holdingUntil: 40, isHurried: true)
        #expect(wasReached, "40 values left while one was being written")
        #expect(freed >= 40 * 64 << 10)
        #expect(writes == 1, "nothing more was written")
        #expect(kept == 0, "pages go back to the system, not on a shelf")
        let loads = cache.statistics.loads
        for key in 0..<64 {
            let bytes = makeBytes(64 << 10, seed: UInt64(key), randomBits: 8)
            #expect(try cache.value(for: key) == PageBuffer(bytes))
        }
        #expect(cache.statistics.loads - loads >= 38)
    }

    @Test func whileNobodyTakesMemoryTheDiskIsWaitedFor() throws {
        let (manager, cache) = try make()
        let (freed, writes, wasReached, _) = batch(manager, cache, holdingUntil: 4, isHurried: false)
        #expect(!wasReached && freed >= 8 * 64 << 10)
        #expect(cache.statistics.evictions == 8 && writes == 8)
    }

    /// A value's code may read another cache, and nobody frees memory for that meanwhile.
    @Test func whoWritesIsLetInWhateverThereIs() throws {
        let manager = try makeManager(fileSystem: disk) { $0.workers = 2 }
        let isExempt = Shared<[Bool]>([])
        let caches = try (0..<16).map { number in
            try manager.root.cache("\(number)", initialValue: Asking(isExempt: isExempt))
        }
        #expect(manager.context.engine.reclaim(ReclaimBatch(goal: .max / 2), root: manager.root) > 0)
        #expect(isExempt.value == Array(repeating: true, count: 16))
        withExtendedLifetime(caches) {}
    }

    private struct Asking: EncodedSpillable {
        var isExempt: Shared<[Bool]>?

        var footprint: Int { 1 << 16 }

        init(isExempt: Shared<[Bool]>) { self.isExempt = isExempt }

        func writeSpillBytes(to writer: SpillWriter) throws {
            isExempt?.change { $0.append(Admission.isThisThreadExempt) }
            usleep(5000)
            try writer.write("asking")
        }

        init(spillBytes: RawSpan) throws {}
    }

    /// Giving the heap back takes half of the time at most while values leave, but all of it is given back before anything is written.
    @Test func beforeAnythingIsWrittenTheHeapIsGivenBack() throws {
        let trims = Shared<[(writes: Int, resident: Int)]>([])
        let resident = Shared<(@Sendable () -> Int)?>(nil)
        let heap = FreeHeap(clock: clock, read: { 0 }) { [clock, disk] in
            clock.advance(by: .milliseconds(4))
            trims.change { $0.append((disk.calls(.write), resident.value?() ?? 0)) }
        }
        let manager = try makeManager(fileSystem: disk) { ($0.clock, $0.heap) = (clock, heap) }
        let loaded = try manager.root.keyedCache("loaded") { (_: Int) in [UInt8](repeating: 1, count: 64 << 10) }
        for key in 0..<64 { try loaded.loadIfNeeded(for: key) }
        let own = try (0..<8).map { try manager.root.cache("\($0)", initialValue: makeBytes(64 << 10, seed: 1)) }
        resident.set { loaded.residentByteCount.bytes }
        let before = disk.calls(.write)
        _ = manager.context.engine.reclaim(ReclaimBatch(goal: .max / 2, isAwaited: { true }), root: manager.root)
        #expect(disk.calls(.write) >= before + 8, "what nobody makes again is written")
        let first = trims.value.filter { $0.writes == before }
        #expect(first.count == 2 && first.last?.resident == 0)
        withExtendedLifetime(own) {}
    }

    /// What may not be dropped stays, however long the disk takes.
    @Test func whatMayNotBeDroppedIsNot() throws {
        let (manager, cache) = try make(dispositions: [.keep, .spill])
        let (freed, writes, wasReached, _) = batch(manager, cache, holdingUntil: 4, isHurried: true)
        #expect(!wasReached && freed < 2 * 64 << 10 && writes == 1)
        #expect(cache.statistics.evictions <= 1)
    }
}
