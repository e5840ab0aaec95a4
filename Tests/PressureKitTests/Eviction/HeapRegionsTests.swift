#if !THREAD_SANITIZER  // One thread at a time.
import CAllocationCounter
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSystem

private let mebibyte = 1 << 20

/// Which regions are chosen.
@Suite struct HeapRegionsTests {
    /// Sixteen values of 4 KiB in each region, the first of them used last.
    private func candidates(
        regions: Int,
        stamp: (Int) -> UInt32 = { UInt32(1000 - $0) },
        isVisible: (Int) -> Bool = { _ in false },
        tells: (Int) -> Bool = { _ in true }
    ) -> [Candidate] {
        (0..<16 * regions).map { index in
            Candidate(
                footprint: 4096,
                stamp: stamp(index / 16),
                method: .drop,
                isVisible: isVisible(index),
                depth: 0,
                region: tells(index) ? UInt32(100 + index / 16) : 0
            )
        }
    }

    /// The regions chosen among candidates, in their turn; `nil` where that is of no use.
    private func choose(_ candidates: [Candidate], goal: Int, parts: Int = 1, room: Int = 4096) -> [UInt32]? {
        let regions = HeapRegions()
        regions.reserve(room)
        var choices = [Planner.Choice](repeating: .init(rank: 0, index: 0), count: candidates.count)
        let isChosen = unsafe candidates.withUnsafeBufferPointer { candidates in
            unsafe choices.withUnsafeMutableBufferPointer { choices in
                unsafe regions.choose(
                    among: candidates,
                    choices: choices,
                    parts: parts,
                    resident: candidates.count * 4096 * parts,
                    goal: goal,
                    policy: LeastRecentlyUsed(),
                    at: PlanMoment(now: 2000)
                )
            }
        }
        guard isChosen else { return nil }
        let found = Set(candidates.map(\.region)).compactMap { number in regions.turn(of: number).map { (number, $0) } }
        #expect(found.count == regions.count)
        #expect(found.map(\.1).sorted() == Array(0..<UInt32(found.count)))
        return found.sorted { $0.1 < $1.1 }.map(\.0)
    }

    @Test func thoseThatAreWorthLeastAreTakenUntilTheyHaveEnough() {
        let all = candidates(regions: 50)
        #expect(choose(all, goal: 1) == [149])
        #expect(choose(all, goal: 3 * HeapRegions.bytes) == [149, 148, 147])
        #expect(choose(all, goal: 3 * HeapRegions.bytes + 1) == [149, 148, 147, 146])
        #expect(choose(all, goal: .max)?.count == 50, "there are no more")
    }

    /// One value that is used much makes its region no better than its others do.
    @Test func theMeanCounts() {
        var all = candidates(regions: 50)
        for index in stride(from: 0, to: all.count, by: 16) where index / 16 != 7 { all[index].stamp = 0 }
        #expect(choose(all, goal: 1) == [149], "a cold value in each of the others")
    }

    /// The sample stands for all.
    @Test func aQuarterTellsOfFourTimesAsMuch() {
        let quarter = candidates(regions: 50).enumerated().filter { $0.offset % 4 == 1 }.map(\.element)
        #expect(choose(quarter, goal: 3 * HeapRegions.bytes, parts: 4) == [149, 148, 147])
    }

    /// One value that happens to be the only one of the sample says little.
    @Test func oneValueSaysLittleOfItsRegion() {
        var all = candidates(regions: 50)
        all.append(Candidate(footprint: 4096, stamp: 1, method: .drop, isVisible: false, depth: 0, region: 7))
        #expect(choose(all, goal: 1) == [149])
    }

    /// What stays between them keeps their pages.
    @Test func whereTooFewSayWhereTheyLieNoneAreChosen() {
        #expect(choose(candidates(regions: 50, tells: { $0 % 4 != 0 }), goal: 1) != nil)
        #expect(choose(candidates(regions: 50, tells: { $0 % 4 > 1 }), goal: 1) == nil)
        #expect(choose([], goal: 1) == nil)
    }

    /// What can be seen leaves last, as in any other order.
    @Test func whatCanBeSeenIsLeftAloneWhereTheRestHasEnough() {
        let few = candidates(regions: 50, isVisible: { $0 % 8 == 0 })
        let regions = HeapRegions()
        regions.reserve(100)
        var choices = [Planner.Choice](repeating: .init(rank: 0, index: 0), count: few.count)
        func lastClass(goal: Int) -> UInt8 {
            unsafe few.withUnsafeBufferPointer { few in
                unsafe choices.withUnsafeMutableBufferPointer { choices in
                    _ = unsafe regions.choose(
                        among: few,
                        choices: choices,
                        parts: 1,
                        resident: few.count * 4096,
                        goal: goal,
                        policy: LeastRecentlyUsed(),
                        at: PlanMoment(now: 2000)
                    )
                }
            }
            return regions.lastClass
        }
        #expect(lastClass(goal: few.count * 4096 / 8 * 7) == 0)
        #expect(lastClass(goal: few.count * 4096 / 8 * 7 + 1) == 1)
        #expect(
            choose(candidates(regions: 50, isVisible: { $0 % 2 == 0 }), goal: 1) == nil,
            "half of each region would stay"
        )
    }

    @Test func thereAreNoMoreThanThereIsRoomFor() {
        #expect(choose(candidates(regions: 50), goal: .max, room: 5) == [149, 148, 147, 146, 145])
    }

    @Test func addressesOfOneRegionHaveOneNumber() {
        #expect(HeapRegions.number(of: 0x7F12_3456_0000) == HeapRegions.number(of: 0x7F12_3456_FFFF))
        #expect(HeapRegions.number(of: 0x7F12_3456_0000) != HeapRegions.number(of: 0x7F12_3457_0000))
        #expect(
            HeapRegions.number(of: 0xF000_7F12_3456_0000) == HeapRegions.number(of: 0x7F12_3456_0000),
            "flags above it"
        )
    }
}

/// What leaves, where others need it at once: values that lie beside each other.
@Suite struct EmptiedRegionsTests {
    /// 16 MiB of values of 4 KiB, used in an order that has nothing to do with where they lie.
    private struct Filled<Value: Spillable> {
        let manager: PressureManager
        let cache: KeyedCache<Int, Value>
        static var count: Int { 4096 }

        init(_ order: EvictionOrder = .leastRecentlyUsed, _ make: @escaping @Sendable () -> Value) throws {
            manager = try makeManager(fileSystem: InMemoryFileSystem()) {
                $0.evictionOrder = order
                $0.heap = FreeHeap(clock: SystemClock(), read: { 0 }, trim: {})
                $0.allocationProbe = { Int(pk_thread_allocations()) }
            }
            cache = try manager.root.keyedCache("values") { _ in make() }
            for key in 0..<Self.count { try cache.loadIfNeeded(for: key) }
            var random = SeededGenerator(seed: 3)
            for key in (0..<Self.count).shuffled(using: &random) { _ = try cache.withValue(for: key) { _ in } }
            // A cache that has been full for a while knows how many there are.
            _ = manager.context.engine.reclaim(ReclaimBatch(goal: 1), root: manager.root)
        }

        var hand: UInt32 { manager.context.engine.history.withLock { $0.moment(at: 0).hand } }

        func isResident(_ key: Int) -> Bool { cache.residency(for: key) == .resident }

        /// Has so many bytes leave for others; by where they lie, if the values say so.
        func reclaim(_ bytes: Int, isBeside: Bool = true) -> Int {
            let engine = manager.context.engine
            let values = manager.context.books.reading
            let beside = isBeside ? engine.leavingBeside(for: bytes, of: values) : nil
            let batch = ReclaimBatch(goal: bytes, beside: beside, isTrade: false, isOver: { false })
            return engine.reclaim(batch, root: manager.root)
        }
    }

    /// Of what leaves, the part that leaves a region with nothing in it.
    private func partInEmptied(_ filled: Filled<[UInt8]>, _ reclaim: () -> Void) throws -> Double {
        var places: [Int: [UInt]] = [:]
        for key in 0..<Filled<[UInt8]>.count where filled.isResident(key) {
            let address = try filled.cache.withValue(for: key) { value in
                unsafe value.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            }
            places[key] = [address / UInt(HeapRegions.bytes)]
        }
        reclaim()
        let stayed = Set(places.filter { filled.isResident($0.key) }.flatMap(\.value))
        let gone = places.filter { !filled.isResident($0.key) }
        return Double(gone.count { !stayed.contains($0.value[0]) }) / Double(gone.count)
    }

    @Test func whatLeavesLeavesRegionsEmpty() throws {
        let filled = try Filled { [UInt8](repeating: 1, count: 4096) }
        var freed = 0
        let part = try partInEmptied(filled) { freed = filled.reclaim(2 * mebibyte) }
        #expect(part > 0.8, "all but the last of some 35, and what reaches into the next")
        #expect(freed > mebibyte && freed < 3 * mebibyte, "what a sample tells, and no multiple")
        let byRank = try Filled { [UInt8](repeating: 1, count: 4096) }
        #expect(try partInEmptied(byRank) { _ = byRank.reclaim(2 * mebibyte, isBeside: false) } < 0.2)
    }

    /// As in any other order, though it lies between what leaves.
    @Test func whatCanBeSeenStays() throws {
        let filled = try Filled { [UInt8](repeating: 1, count: 4096) }
        for key in stride(from: 0, to: 4096, by: 8) { filled.cache.invalidate(for: key) }
        let album = try addController("album", to: filled.manager.root)
        let seen = try album.keyedCache("seen") { (_: Int) in [UInt8](repeating: 1, count: 4096) }
        for key in 0..<400 { try seen.loadIfNeeded(for: key) }
        album.appear()
        #expect(filled.reclaim(2 * mebibyte) > mebibyte)
        #expect((0..<400).allSatisfy { seen.residency(for: $0) == .resident })
    }

    @Test func stringsSayWhereTheyLieToo() throws {
        let filled = try Filled { String(repeating: "x", count: 4000) }
        #expect(filled.reclaim(2 * mebibyte) > mebibyte)
        let regions = (0..<Filled<String>.count).filter { !filled.isResident($0) }
        #expect(regions.count >= mebibyte / 4096)
    }

    /// They leave by rank, as before.
    @Test func valuesThatDoNotSayWhereTheyLieLeaveByRank() throws {
        let filled = try Filled { HiddenBytes(count: 4096) }
        #expect(filled.reclaim(2 * mebibyte) == 2 * mebibyte, "no more than is wanted")
    }

    /// The order goes on where it was, as if nothing had left.
    @Test(arguments: EvictionOrder.allCases) func theHandStays(order: EvictionOrder) throws {
        let filled = try Filled(order) { [UInt8](repeating: 1, count: 4096) }
        let before = filled.hand
        #expect(filled.reclaim(2 * mebibyte) > mebibyte)
        #expect(filled.hand == before)
    }

    /// It is done when memory is short.
    @Test func nothingIsAllocatedForIt() throws {
        let filled = try Filled { [UInt8](repeating: 1, count: 4096) }
        _ = filled.reclaim(mebibyte)
        let before = pk_thread_allocations()
        let freed = filled.reclaim(2 * mebibyte)
        #expect(pk_thread_allocations() == before)
        #expect(freed > mebibyte)
    }

    /// A run that is to be repeated does not depend on where values happen to lie.
    @Test func whereTheHeapIsNotMeasuredItIsNotAsked() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) {
            $0.heap = FreeHeap(clock: SystemClock(), process: nil)
        }
        let cache = try manager.root.keyedCache("values") { (_: Int) in [UInt8](repeating: 1, count: 4096) }
        for key in 0..<2000 { try cache.loadIfNeeded(for: key) }
        let engine = manager.context.engine
        _ = engine.reclaim(ReclaimBatch(goal: 1), root: manager.root)
        #expect(engine.leavingBeside(for: mebibyte, of: manager.context.books.reading) == nil)
    }

    @Test(arguments: [(4096, true), (1000, true), (32 << 10, false)]) func onlySmallValues(size: Int, isBeside: Bool)
        throws
    {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) {
            $0.heap = FreeHeap(clock: SystemClock(), read: { 0 }, trim: {})
        }
        let cache = try manager.root.keyedCache("values") { (_: Int) in [UInt8](repeating: 1, count: size) }
        for key in 0..<1200 { try cache.loadIfNeeded(for: key) }
        let engine = manager.context.engine
        _ = engine.reclaim(ReclaimBatch(goal: 1), root: manager.root)
        #expect((engine.leavingBeside(for: mebibyte, of: manager.context.books.reading) != nil) == isBeside)
    }
}
#endif
