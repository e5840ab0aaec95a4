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
