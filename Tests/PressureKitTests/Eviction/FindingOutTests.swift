import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A cache learns what restores take although they do not seem to be worth it.
@Suite(.timeLimit(.minutes(2))) struct FindingOutTests {
    /// A load of 145 µs, and a restore of 32 KiB that is taken for 129 µs until there has been one: too near to each other for
    /// a copy. But this disk takes no time at all.
    @Test func aDiskThatIsFasterThanItIsTakenForIsFoundOut() async throws {
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.clock = clock }
        let cache = try manager.root.keyedCache("values") { (key: Int) in
            clock.advance(by: .microseconds(145))
            return [UInt8](repeating: UInt8(key), count: 32 << 10)
        }
        for _ in 0..<20 {
            for key in 0..<100 { try cache.loadIfNeeded(for: key) }
            _ = await manager.reclaim(.mebibytes(100))
        }
        #expect(cache.statistics.restores >= 100, "each value has its copy in the end")
        let loads = cache.statistics.loads
        for key in 0..<100 { try cache.loadIfNeeded(for: key) }
        #expect(cache.statistics.loads == loads)
    }

    /// A load of 60 µs, and a restore that is taken for 34 and would take as long: until one has come back, few are written.
    @Test func anEstimateIsNotGoneByForEver() async throws {
        let clock = ManualClock()
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) { $0.clock = clock }
        let cache = try manager.root.keyedCache("values") { (key: Int) in
            clock.advance(by: .microseconds(60))
            return SlowlyWritten(bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 4096), clock: clock)
        }
        var spilled = 0
        for round in 0..<40 {
            for key in 0..<100 { try cache.loadIfNeeded(for: 100 * round + key) }
            let report = await manager.reclaim(.mebibytes(100))
            spilled += report.evicted.reduce(0) { $0 + ($1.outcome == .spilled ? $1.count : 0) }
        }
        #expect((256..<600).contains(spilled), "of 4,000 that nobody has read again")
    }

    /// Takes 50 µs to write.
    private struct SlowlyWritten: Spillable {
        var bytes: [UInt8]
        var clock: ManualClock?

        init(bytes: [UInt8], clock: ManualClock?) { (self.bytes, self.clock) = (bytes, clock) }

        var spillByteCount: Int { bytes.spillByteCount }
        func withSpillBytes(_ body: (RawSpan) -> Void) {
            clock?.advance(by: .microseconds(50))
            bytes.withSpillBytes(body)
        }
        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            unsafe try self.init(bytes: [UInt8](spillByteCount: spillByteCount, restoringWith: fill), clock: nil)
        }
    }

    @Test func whatManyCopiesHaveNotShownIsUnconfirmed() {
        let statistics = CacheStatistics()
        func isUnconfirmed() -> Bool { statistics.isUnconfirmed }
        for _ in 0..<255 { statistics.noteWrite(.microseconds(50), byteCount: 4096) }
        #expect(!isUnconfirmed(), "some may have had no time to come back")
        statistics.noteWrite(.microseconds(50), byteCount: 4096)
        #expect(isUnconfirmed())
        for _ in 0..<16 { statistics.noteRestore(.microseconds(60)) }
        #expect(!isUnconfirmed())
    }

    /// Beside a load that takes long it hardly matters how fast the disk answers.
    @Test(arguments: [(60, 0.02), (199, 0.08), (200, 1), (1000, 1)])
    func onlyShortLoadsWaitForThat(load: Int, part: Double) {
        let written = (0..<1000).count { number in
            let method = Candidate.Method.forDirty(
                isReloadable: true,
                loadTime: .microseconds(load),
                restoreTime: nil,
                byteCount: 4096,
                canSpill: true,
                writeTime: .microseconds(50),
                findsOut: true,
                isUnconfirmed: true,
                draw: Double(number) / 1000
            )
            return method == .spill
        }
        #expect(abs(Double(written) / 1000 - part) < 0.011)
    }

    /// A load that the page cache mostly answers in 50 µs, and else the disk in 900: 156 on average, and a restore takes 180.
    /// Sometimes several of the slow ones come one after the other, and copies seem to be worth it.
    @Test func copiesAreNotWrittenForTheDisksMood() {
        let statistics = CacheStatistics()
        var random = SeededGenerator(seed: 3)
        for _ in 0..<100 { statistics.noteRestore(.microseconds(180), byteCount: 4096) }
        let worth = (0..<10_000).count { _ in
            statistics.noteLoad(.microseconds(Int.random(in: 0..<8, using: &random) == 0 ? 900 : 50))
            let method = Candidate.Method.forDirty(
                isReloadable: true,
                loadTime: statistics.loadTime,
                restoreTime: statistics.restoreTime,
                byteCount: 4096,
                canSpill: true,
                writeTime: .microseconds(50),
                draw: 0.5
            )
            return method == .spill
        }
        #expect(worth < 1000, "of 10,000")
        // But what changes is noticed.
        for _ in 0..<200 { statistics.noteLoad(.milliseconds(1)) }
        #expect(statistics.reloadCost > 900_000)
    }

    /// Where loaders are faster than the disk, a value with a copy is worse off: there are to be few.
    @Test func itEndsWhenEnoughIsKnown() {
        let statistics = CacheStatistics()
        func isFindingOut() -> Bool { statistics.isFindingOut }
        for _ in 0..<15 { statistics.noteRestore(.microseconds(100)) }
        #expect(isFindingOut())
        statistics.noteRestore(.microseconds(100))
        #expect(!isFindingOut())
        for _ in 0..<256 { statistics.noteLoad(.microseconds(10)) }
        #expect(isFindingOut(), "it may have become faster")
        statistics.noteRestore(.microseconds(100))
        #expect(!isFindingOut())
    }
}
