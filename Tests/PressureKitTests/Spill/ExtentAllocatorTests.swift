#if !THREAD_SANITIZER  // One thread at a time.
import CAllocationCounter
import PressureKitTestSupport
import Testing

@testable import PressureKit
@testable import SpillStore

/// One flag a unit, searched from the start: too simple to be wrong.
private struct BitmapModel {
    var isLive: [Bool] = []
    let limit: Int

    mutating func allocate(_ count: Int) -> Int? {
        var run = 0
        for unit in isLive.indices {
            run = isLive[unit] ? 0 : run + 1
            if run == count {
                mark(unit - count + 1, count, true)
                return unit - count + 1
            }
        }
        let start = isLive.count
        guard start + count <= limit else { return nil }
        isLive += [Bool](repeating: true, count: count)
        return start
    }

    mutating func free(_ start: Int, _ count: Int) {
        mark(start, count, false)
        while isLive.last == false { isLive.removeLast() }
    }

    private mutating func mark(_ start: Int, _ count: Int, _ live: Bool) {
        for unit in start..<start + count { isLive[unit] = live }
    }

    /// The maximal free runs below the end.
    var freeRuns: [Extent] {
        var runs: [Extent] = []
        for unit in isLive.indices where !isLive[unit] {
            if let last = runs.last, last.end == unit {
                runs[runs.count - 1].count += 1
            } else {
                runs.append(Extent(start: UInt32(unit), count: 1))
            }
        }
        return runs
    }
}

@Suite struct ExtentAllocatorTests {
    @Test(arguments: [0, 1, 31, 4064, 4065, 262_144, 262_176] as [Int])
    func bytesAreRoundedUpToWholeUnits(_ count: Int) {
        let units = ExtentAllocator.units(forByteCount: count)
        #expect(units * 4096 >= count && (units - 1) * 4096 < max(count, 1))
    }

    @Test func theLowestFitIsUsedAndNeighboursAreMerged() throws {
        var allocator = ExtentAllocator(limit: 100)
        let extents = (0..<5).map { _ in allocator.allocate(10)! }
        #expect(extents.map(\.start) == [0, 10, 20, 30, 40])
        allocator.free(extents[1])
        allocator.free(extents[3])
        allocator.free(extents[2])
        #expect(allocator.freeExtents.map(\.extent) == [Extent(start: 10, count: 30)])
        #expect(allocator.allocate(4) == Extent(start: 10, count: 4))
        #expect(allocator.allocate(27) == Extent(start: 50, count: 27))
        #expect(allocator.allocate(26) == Extent(start: 14, count: 26))
    }

    @Test func freeingTheTailMovesTheEndPastEveryFreeNeighbour() {
        var allocator = ExtentAllocator(limit: 100)
        let extents = (0..<3).map { _ in allocator.allocate(10)! }
        allocator.free(extents[1])
        allocator.free(extents[2])
        #expect(allocator.end == 10)
        #expect(allocator.freeExtents.isEmpty)
        allocator.free(extents[0])
        #expect(allocator.end == 0)
    }

    @Test func theLimitIsReachedExactlyAndNeverPassed() {
        var allocator = ExtentAllocator(limit: 10)
        #expect(allocator.allocate(11) == nil)
        let first = allocator.allocate(6)!
        #expect(allocator.allocate(5) == nil)
        #expect(allocator.allocate(4)?.end == 10)
        #expect(allocator.allocate(1) == nil)
        allocator.free(first)
        #expect(allocator.allocate(6) == first)
    }

    @Test func theLargestLimitDoesNotOverflow() {
        var allocator = ExtentAllocator(limit: .max)
        #expect(allocator.allocate(.max) == Extent(start: 0, count: .max))
        #expect(allocator.allocate(1) == nil)
    }

    @Test func freeingTwiceTraps() async {
        await #expect(processExitsWith: .failure) {
            var allocator = ExtentAllocator(limit: 10)
            let first = allocator.allocate(2)!
            _ = allocator.allocate(2)
            allocator.free(first)
            allocator.free(first)
        }
    }

    @Test func whatIsBeingPunchedIsNotHandedOut() throws {
        var allocator = ExtentAllocator(limit: 100)
        let extents = (0..<4).map { _ in allocator.allocate(10)! }
        allocator.free(extents[0])
        allocator.free(extents[2])
        #expect(allocator.holdingUnits == 20)
        let found = allocator.takeHolding(from: 0, minimum: 1)
        let taken = try #require(found)
        #expect(taken == extents[0])
        #expect(allocator.allocate(10) == extents[2])
        allocator.free(taken, holdsBlocks: false)
        #expect(allocator.holdingUnits == 0)
        #expect(allocator.takeHolding(from: 0, minimum: 1) == nil)
        #expect(allocator.freeExtents == [FreeExtents.Entry(extent: extents[0], holdsBlocks: false)])
        #expect(allocator.allocate(10) == extents[0])
    }

    /// Extents of a mix of sizes come and go in phases of growth and decay; after every step the allocator and the
    /// bitmap agree on every unit.
    @Test(arguments: UInt64(1)...12)
    func aRandomWalkAgreesWithABitmap(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let limit = 2000
        var allocator = ExtentAllocator(limit: UInt32(limit))
        var model = BitmapModel(limit: limit)
        var live: [Extent] = []
        for step in 0..<3000 {
            let grows = Int.random(in: 0..<10, using: &random) < (step / 500 % 2 == 0 ? 6 : 4)
            if grows {
                let count = Bool.random(using: &random) ? 65 : Int.random(in: 1...65, using: &random)
                let extent = allocator.allocate(UInt32(count))
                #expect(extent.map { Int($0.start) } == model.allocate(count), "seed \(seed) step \(step)")
                if let extent { live.append(extent) }
            } else if let index = live.indices.randomElement(using: &random) {
                let extent = live.remove(at: index)
                allocator.free(extent)
                model.free(Int(extent.start), Int(extent.count))
            }
            if step % 97 == 0, let taken = allocator.takeHolding(from: UInt32(step % limit), minimum: 1) {
                allocator.free(taken, holdsBlocks: false)
            }
            try #require(Int(allocator.end) == model.isLive.count, "seed \(seed) step \(step)")
            try #require(allocator.freeExtents.map(\.extent) == model.freeRuns, "seed \(seed) step \(step)")
            try #require(allocator.isConsistent, "seed \(seed) step \(step)")
            #expect(allocator.liveUnits == live.reduce(0) { $0 + Int($1.count) })
            #expect(
                allocator.holdingUnits
                    == allocator.freeExtents.filter(\.holdsBlocks).reduce(0) { $0 + Int($1.extent.count) }
            )
        }
    }

    /// Robson's bound for first fit, M·log₂ n, against the peak of live units; what is lost in practice is far less.
    @Test(arguments: UInt64(1)...6)
    func fragmentationStaysWithinRobsonsBound(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var allocator = ExtentAllocator(limit: .max)
        var live: [Extent] = []
        var peakLive = 0
        var peakEnd: UInt32 = 0
        for _ in 0..<20_000 {
            if live.count < 400 || Bool.random(using: &random) && live.count < 600 {
                live.append(allocator.allocate(UInt32.random(in: 1...65, using: &random))!)
            } else {
                live.swapAt(Int.random(in: live.indices, using: &random), live.count - 1)
                allocator.free(live.removeLast())
            }
            peakLive = max(peakLive, allocator.liveUnits)
            peakEnd = max(peakEnd, allocator.end)
        }
        #expect(Double(peakEnd) <= Double(peakLive) * 6.03, "seed \(seed): worse than M·log₂ 65")
        #expect(Double(peakEnd) <= Double(peakLive) * 1.35, "seed \(seed): \(peakEnd) units for \(peakLive) live")
    }

    @Test func withinItsReservationItAllocatesNothing() {
        let count = 2000
        var allocator = ExtentAllocator(limit: .max)
        allocator.reserve(extents: count)
        var random = SeededGenerator(seed: 7)
        let sizes = (0..<count).map { _ in UInt32.random(in: 1...65, using: &random) }
        var live = [Extent](repeating: Extent(start: 0, count: 0), count: count)
        var allocations: UInt64 = 0
        // The first round is not counted: the runtime builds a type's metadata when it is first used.
        for _ in 0..<2 {
            let before = pk_thread_allocations()
            for index in 0..<count { live[index] = allocator.allocate(sizes[index])! }
            for index in 0..<count / 2 { allocator.free(live[2 * index]) }
            for index in 0..<count / 2 { live[2 * index] = allocator.allocate(1)! }
            for index in 0..<count { allocator.free(live[index]) }
            allocations = pk_thread_allocations() - before
        }
        #expect(allocations == 0)
        #expect(allocator.end == 0)
    }

    @Test func withinItsReservationTheTreeDoesNotGrowEither() {
        // The worst pattern there is: every second unit free.
        var allocator = ExtentAllocator(limit: .max)
        allocator.reserve(extents: 1000)
        var before: UInt64 = 0
        for round in 0..<2 {
            if round == 1 { before = pk_thread_allocations() }
            for _ in 0..<1000 { _ = allocator.allocate(1) }
            for unit in 0..<500 { allocator.free(Extent(start: UInt32(2 * unit), count: 1)) }
            for unit in 0..<500 { allocator.free(Extent(start: UInt32(2 * unit + 1), count: 1)) }
        }
        #expect(pk_thread_allocations() - before == 0)
    }
}
#endif
