import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A cache that keeps to its own limit writes small values together, and no more leaves for that than saves a write.
@Suite(.timeLimit(.minutes(5))) struct LimitBatchTests {
    private let disk = FaultyFileSystem(wrapping: InMemoryFileSystem())
    private let controller = PressureController("map")
    private let manager: PressureManager

    init() throws {
        manager = try makeManager(fileSystem: disk)
        try manager.root.addChild(controller)
    }

    private func makeTiles(_ limit: ByteCount) throws -> KeyedCache<Int, [UInt8]> {
        try controller.keyedCache("tiles", options: .init(limit: limit))
    }

    private func tile(_ number: Int) -> [UInt8] { makeBytes(4096, seed: UInt64(number), randomBits: 8) }

    private func fill(_ tiles: KeyedCache<Int, [UInt8]>, from first: Int = 0, count: Int) {
        for number in first..<first + count { tiles.set(tile(number), for: number) }
    }

    private func check(_ tiles: KeyedCache<Int, [UInt8]>, count: Int) throws {
        for number in 0..<count { #expect(try tiles.valueIfPresent(for: number) == tile(number)) }
    }

    @Test func smallValuesAreWrittenTogether() throws {
        let tiles = try makeTiles(.mebibytes(1))
        let before = disk.calls(.write)
        fill(tiles, count: 768)
        let (written, calls) = (tiles.outflow.values, disk.calls(.write) - before)
        #expect(written >= 512 && written <= 512 + LimitBatch.mostValues)
        #expect(calls <= written / 12, "\(calls) writes of \(written) values")
        #expect(manager.snapshot().resident <= .mebibytes(1))
        try check(tiles, count: 768)
    }

    /// Of a small cache not even one leaves early.
    @Test func noMoreThanASixteenthLeavesAhead() throws {
        let tiles = try makeTiles(.bytes(15 * 4096))
        for number in 0..<64 {
            tiles.set(tile(number), for: number)
            #expect(tiles.outflow.values == max(0, number - 14))
        }
    }

    /// What can be made again is not given up to save a write.
    @Test func whatIsNotWrittenDoesNotLeaveAhead() throws {
        let tiles = try controller.keyedCache("tiles", options: .init(limit: .mebibytes(1))) { (number: Int) in
            tile(number)
        }
        for number in 0..<2048 {
            if number % 8 == 0 { tiles.set(tile(number), for: number) } else { _ = try tiles.value(for: number) }
            guard number >= 256 else { continue }
            let resident = manager.context.books.reading.resident
            #expect(resident >= (256 - LimitBatch.mostValues) * 4096 && resident <= 256 * 4096)
        }
    }

    /// A write of many fails: each is tried by itself, and whatever cannot be written stays.
    @Test func aBatchThatCannotBeWrittenLosesNothing() throws {
        let tiles = try makeTiles(.mebibytes(1))
        fill(tiles, count: 256)
        disk.set(FaultyFileSystem.Rule(.error(EIO), on: .write, .every(3)))
        fill(tiles, from: 256, count: 256)
        disk.set(FaultyFileSystem.Rule(.error(EIO), on: .write, .from(1)))
        fill(tiles, from: 512, count: 88)
        disk.set(nil)
        try check(tiles, count: 600)
    }

    /// A disk that is full is left alone for a second, whoever brings values meanwhile, small ones and large ones.
    @Test(arguments: [4096, 64 << 10]) func aDiskThatHasFailedIsNotTriedWithEachValue(size: Int) throws {
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: disk) { $0.clock = clock }
        let options = CacheOptions(limit: .bytes(16 * size))
        let tiles = try manager.root.keyedCache("tiles", key: Int.self, value: [UInt8].self, options: options)
        func tile(_ number: Int, _ size: Int) -> [UInt8] { makeBytes(size, seed: UInt64(number), randomBits: 8) }
        func set(_ numbers: Range<Int>) { for number in numbers { tiles.set(tile(number, size), for: number) } }
        set(0..<16)
        disk.set(FaultyFileSystem.Rule(.error(ENOSPC), on: .write, .from(1)))
        let before = disk.calls(.write)
        set(16..<17)
        let calls = disk.calls(.write)
        #expect(1...2 ~= calls - before, "\(calls - before)")
        set(17..<48)
        #expect(disk.calls(.write) == calls)
        clock.advance(by: .seconds(2))
        disk.set(nil)
        set(48..<49)
        #expect(disk.calls(.write) > calls)
        #expect(manager.snapshot().resident <= .bytes(16 * size))
        for number in 0..<49 { #expect(try tiles.valueIfPresent(for: number) == tile(number, size)) }
    }

    /// Whoever comes while a batch is written need not make room for what is leaving; afterwards all keep to the limit.
    @Test func manyWritersKeepToTheLimit() async throws {
        let tiles = try makeTiles(.mebibytes(1))
        await withTaskGroup { group in
            for writer in 0..<8 {
                group.addTask { fill(tiles, from: writer << 8, count: 256) }
            }
        }
        // The last of each may have found that enough was leaving.
        fill(tiles, from: 2048, count: 1)
        #expect(manager.snapshot().resident <= .mebibytes(1))
        try check(tiles, count: 2048)
    }
}
