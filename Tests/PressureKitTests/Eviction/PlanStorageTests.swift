import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite struct PlanStorageTests {
    private func entry(_ name: String = "value") -> LazyEntry<[UInt8]> {
        LazyEntry<[UInt8]>(name: name, host: nil, loader: nil)
    }

    private func candidate(footprint: Int = 1, stamp: UInt32 = 0) -> Candidate {
        Candidate(footprint: footprint, stamp: stamp, method: .spill, isVisible: false, depth: 0)
    }

    @Test func growsSeldomAndNeverPastItsLimit() {
        let storage = PlanStorage(most: 5000)
        var capacities: Set<Int> = []
        for count in 1...10_000 {
            storage.reserve(values: count, caches: 1)
            #expect(storage.capacity >= min(count, 5000))
            capacities.insert(storage.capacity)
        }
        #expect(capacities.count < 20)
        #expect(storage.capacity == 5000)
    }

    @Test func keepsWhatItListsAliveAndNoLonger() {
        let storage = PlanStorage()
        storage.reserve(values: 1, caches: 1)
        weak var seen: CacheEntry?
        do {
            let entry = entry()
            seen = entry
            storage.begin(LeastRecentlyUsed(), at: PlanMoment(now: 1), goal: nil)
            storage.add(entry, isVisible: false, depth: 0)
            // The slot is the entry's own.
            unsafe storage.append(candidate(footprint: 7), entry: entry, slot: entry.slot.base)
        }
        #expect(seen != nil)
        #expect(storage.seenBytes == 7)
        storage.clear()
        #expect(seen == nil)
        #expect(storage.candidateCount == 0)
        #expect(storage.tally.rowCount == 0)
    }

    /// Never grows while memory is short: a cache registered during the reclaim waits for the next one.
    @Test func aCacheThatThereIsNoRoomForIsLeftOut() {
        let storage = PlanStorage()
        storage.reserve(values: 1, caches: 1)
        storage.begin(LeastRecentlyUsed(), at: PlanMoment(now: 1), goal: nil)
        var entries = (0..<100).map { entry("\($0)") }
        let all = entries.map(WeakEntry.init)
        for entry in entries { storage.add(entry, isVisible: false, depth: 0) }
        for entry in entries { storage.skip(entry, .busy, footprint: 1) }
        #expect(storage.tally.rowCount == storage.tally.capacity)
        #expect(storage.tally.unlisted == 100 - storage.tally.capacity)
        storage.tally.clearSkips()
        entries = []
        #expect(all.count { $0.entry != nil } == 64)
        storage.clear()
        #expect(all.allSatisfy { $0.entry == nil })
    }

    private struct WeakEntry {
        weak var entry: CacheEntry?
    }

    /// Whatever the order in which values are listed, those that go first are kept.
    @Test(arguments: [nil, 10, 499, 500, 3000]) func keepsTheLowestRanksWhenThereAreMoreThanFit(goal: Int?) {
        let storage = PlanStorage(most: 1000)
        storage.reserve(values: 10_000, caches: 1)
        let entry = entry()
        var stamps = Array(UInt32(1)...10_000)
        var random = SeededGenerator(seed: 7)
        stamps.shuffle(using: &random)
        let moment = PlanMoment(now: 20_000)
        storage.begin(LeastRecentlyUsed(), at: moment, goal: goal)
        for stamp in stamps {
            // The slot is the entry's own, and nothing is done to it here.
            unsafe storage.append(candidate(stamp: stamp), entry: entry, slot: entry.slot.base)
        }
        #expect(storage.seenCount == 10_000)
        let sure = min(goal ?? 500, 500)
        let kept = unsafe storage.candidates[..<storage.candidateCount].map(\.stamp).sorted()
        #expect(kept.prefix(sure) == Array(UInt32(1)...UInt32(sure))[...])
        // With a goal that fits, nothing that this round wants was left for another.
        #expect(storage.isTruncated == ((goal ?? .max) > 500))
    }

    /// All of a cache that is larger than a plan goes all the same, and it is not gone through again for every part.
    @Test func everythingGoesInAsManyRoundsAsItTakes() async throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.plannedValues = 100 }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.keyedCache("values", key: Int.self, value: [UInt8].self)
        for key in 0..<3000 { cache.set([UInt8(truncatingIfNeeded: key)], for: key) }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evictedCount == 3000)
        #expect(report.evicted.map(\.count) == [3000])
        #expect(report.skipped.isEmpty)
        #expect(cache.residentByteCount == .zero)
        for key in [0, 1234, 2999] { #expect(try await cache.value(for: key) == [UInt8(truncatingIfNeeded: key)]) }
        // A part, of more values than fit.
        let part = await manager.reclaim(.bytes(2))
        #expect(part.evictedCount == 2)
    }

    @Test func theTallyHasARowForEachCacheAndOutcome() throws {
        let tally = ReclaimTally()
        tally.reserve(caches: 3)
        let entries = (0..<3).map { entry("\($0)") }
        for round in 0..<5 {
            for entry in entries {
                tally.add(entry, .evicted(.spilled)) { $0.bytes += 10 }
                tally.add(entry, .skipped(.pinned)) { $0.bytes += 1 }
                if round == 2 { tally.add(entry, .failed) { $0.failure = .floorReached } }
            }
        }
        #expect(tally.rowCount == 9)
        tally.clearSkips()
        tally.add(entries[1], .skipped(.pinned)) { $0.bytes += 4 }
        #expect(tally.rowCount == 9)
        var report = EvictionReport(
            cause: PressureCause(origin: .request, source: "test", levelBefore: .normal, levelAfter: .normal)
        )
        report.fill(from: tally, isMemoryBacked: false)
        #expect(report.evicted.map(\.path) == ["0", "1", "2"])
        #expect(report.evicted.map(\.count) == [5, 5, 5])
        #expect(report.evicted.map(\.bytes) == Array(repeating: .bytes(50), count: 3))
        #expect(report.skipped.map(\.path) == ["1"])
        #expect(report.skipped.map(\.bytes) == [.bytes(4)])
        #expect(report.failures.count == 3)
    }
}
