import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

@Suite struct ObjectCacheTests {
    /// An object that can be counted.
    private final class Picture: Sendable {
        static func made(_ living: Living, _ number: Int = 0) -> Picture { Picture(living, number) }

        final class Living: Sendable {
            let count = Atomic<Int>(0)
            var value: Int { count.load(ordering: .relaxed) }
        }

        let number: Int
        private let living: Living

        private init(_ living: Living, _ number: Int) {
            self.living = living
            self.number = number
            living.count.wrappingAdd(1, ordering: .relaxed)
        }

        deinit { living.count.wrappingSubtract(1, ordering: .relaxed) }
    }

    private let living = Picture.Living()
    private let disk = InMemoryFileSystem()

    private func makeCache(_ manager: PressureManager) throws -> ObjectCache<Int, Picture> {
        try manager.root.objectCache("pictures")
    }

    @Test func whatWasSetIsThereUntilItIsRemoved() throws {
        let cache = try makeCache(makeManager(fileSystem: disk))
        #expect(cache.name == "pictures")
        #expect(cache.object(forKey: 1) == nil)
        for number in 1...3 { cache.setObject(.made(living, number), forKey: number, cost: 100) }
        #expect((1...3).map { cache.object(forKey: $0)?.number } == [1, 2, 3])
        cache.setObject(.made(living, 20), forKey: 2)
        #expect(cache.object(forKey: 2)?.number == 20)
        #expect(living.value == 3)
        cache.removeObject(forKey: 1)
        cache.removeObject(forKey: 99)
        #expect(cache.object(forKey: 1) == nil)
        cache.removeAllObjects()
        #expect(cache.object(forKey: 2) == nil)
        #expect(living.value == 0)
    }

    /// What no `NSCache` does on Linux. One that somebody has lives on with them.
    @Test(arguments: [0, 1 << 20]) func objectsAreDroppedUnderPressureAndNeverWritten(cost: Int) async throws {
        let manager = try makeManager(fileSystem: disk)
        let cache = try makeCache(manager)
        for number in 0..<10 { cache.setObject(.made(living, number), forKey: number, cost: cost) }
        let held = cache.object(forKey: 7)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.allSatisfy { $0.outcome == .dropped && $0.storedBytes == .zero })
        #expect(report.evicted.reduce(0) { $0 + $1.count } == 10)
        #expect(report.evicted.reduce(.zero) { $0 + $1.bytes } == .bytes(10 * max(cost, 64)))
        #expect(cache.object(forKey: 7) == nil)
        #expect(held?.number == 7)
        #expect(living.value == 1)
        // And it goes on.
        cache.setObject(.made(living, 8), forKey: 7)
        #expect(cache.object(forKey: 7)?.number == 8)
    }

    @Test func whatIsNotThereIsNoFailure() throws {
        let manager = try makeManager(fileSystem: disk)
        let cache = try makeCache(manager)
        for number in 0..<10 { #expect(cache.object(forKey: number) == nil) }
        let figures = try #require(manager.snapshot().controllers.first?.caches.first)
        #expect(figures.failures == 0)
        #expect(figures.loads == 0)
        #expect(cache.entry.count == 0, "a miss leaves no key behind")
    }

    @Test func limitsAreKeptToAndCanBeChanged() throws {
        let cache = try makeCache(makeManager(fileSystem: disk))
        #expect(cache.countLimit == 0)
        #expect(cache.totalCostLimit == 0)
        for number in 0..<100 { cache.setObject(.made(living, number), forKey: number, cost: 10) }
        #expect(living.value == 100)
        cache.countLimit = 40
        #expect(cache.countLimit == 40)
        #expect(living.value == 40)
        cache.totalCostLimit = 200
        #expect(living.value == 20)
        cache.setObject(.made(living, 1), forKey: 1000, cost: 150)
        #expect(cache.entry.residentBytes.load(ordering: .relaxed) <= 200)
        cache.countLimit = 0
        cache.totalCostLimit = 0
        for number in 0..<100 { cache.setObject(.made(living, number), forKey: number, cost: 10) }
        #expect(cache.entry.count >= 100)
    }

    /// The manager's dispositions count here too.
    @Test func whereNothingMayBeDroppedObjectsStay() async throws {
        let manager = try makeManager(fileSystem: disk) { $0.supportedDispositions = [.keep, .spill] }
        let cache = try makeCache(manager)
        cache.setObject(.made(living, 1), forKey: 1, cost: 1 << 20)
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evicted.isEmpty)
        #expect(cache.object(forKey: 1)?.number == 1)
    }

    @Test func namesAreTakenOnce() throws {
        let manager = try makeManager(fileSystem: disk)
        let cache = try makeCache(manager)
        let error = #expect(throws: PressureError.self) { try makeCache(manager) }
        #expect(error?.code == .duplicateIdentifier)
        manager.root.removeCache(cache)
        _ = try makeCache(manager)
    }

    /// Whatever threads do at a time: who reads gets an object of that key, and none is left behind.
    @Test func threadsThatSetReadAndRemoveLoseNoObject() async throws {
        let manager = try makeManager(fileSystem: disk)
        do {
            let cache = try makeCache(manager)
            cache.countLimit = 16
            let living = living
            await withTaskGroup(of: Void.self) { group in
                for seed in 0..<8 {
                    group.addTask {
                        for step in 0..<2000 {
                            let key = (step &* 7 &+ seed) % 32
                            switch step % 5 {
                            case 0: cache.removeObject(forKey: key)
                            case 1, 2: cache.setObject(.made(living, key), forKey: key, cost: 8)
                            default:
                                if let picture = cache.object(forKey: key) { #expect(picture.number == key) }
                            }
                        }
                    }
                }
            }
            #expect(cache.entry.residentCount.load(ordering: .relaxed) <= 16)
            manager.root.removeCache(cache)
        }
        #expect(living.value == 0)
    }
}
