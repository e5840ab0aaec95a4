import PressureKit
import Synchronization
import Testing

@testable import SampleContent
@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct HeldCacheTests {
    /// A source that breaks its promise: from the second time on its bytes are different.
    private final class Fickle: ContentSource {
        private let times = Atomic<Int>(0)

        func fill(_ bytes: inout MutableRawSpan, index: Int) {
            let time = times.wrappingAdd(1, ordering: .relaxed).newValue
            SyntheticContent(compressibility: 0.5, seed: UInt64(min(time, 2))).fill(&bytes, index: index)
        }
    }

    private func cache(_ source: any ContentSource, loader: LoaderSpec?) throws -> HeldCache<PageBuffer> {
        try HeldCache(
            "value",
            at: PressureController("shelf"),
            recipe: ValueRecipe(source: source, index: 0, byteCount: 10_000, seed: 1),
            loader: loader.map { SimulatedLoader($0, seed: 1, stream: 1, isActive: ActiveFlag()) }
        )
    }

    private let right = SyntheticContent(compressibility: 0.5, seed: 1)
    private let free = LoaderSpec(cost: .zero, failure: 0)

    @Test func accessesAreCountedByWhatTheyMet() throws {
        let cache = try cache(right, loader: free)
        var tally = AccessTally()
        cache.access(&tally)
        cache.access(&tally)
        #expect(tally.latencies[.load]?.count == 1)
        #expect(tally.latencies[.hit]?.count == 1)
        #expect(tally.losses.isEmpty)
    }

    /// The verification can fail: a cache that gives other bytes than it was given is found out.
    @Test func wrongBytesAreALoss() throws {
        let cache = try cache(Fickle(), loader: free)
        var tally = AccessTally()
        cache.access(&tally)
        #expect(tally.losses.map(\.reason) == ["its bytes are wrong"])
    }

    @Test func theFinalComparisonFindsWhatDiffersFromItsSource() throws {
        let cache = try cache(Fickle(), loader: nil)
        var tally = AccessTally()
        cache.verify(&tally)
        #expect(tally.losses.map(\.reason) == ["its bytes differ from its source's"])
        #expect(tally.verified == 1)
    }

    @Test func updatesAreVerifiedBeforeAndAfter() throws {
        let cache = try cache(right, loader: nil)
        var tally = AccessTally()
        for _ in 0..<5 {
            cache.update(&tally)
            cache.access(&tally)
            cache.verify(&tally)
        }
        #expect(tally.losses.isEmpty)
        #expect(tally.verified == 5)
    }

    @Test func aLoaderThatFailsOnPurposeLosesNothing() throws {
        let cache = try cache(right, loader: LoaderSpec(cost: .zero, failure: 1))
        var tally = AccessTally()
        cache.access(&tally)
        #expect(tally.loaderFailures == 1)
        #expect(tally.failures == 0)
        #expect(tally.losses.isEmpty)
    }

    @Test func readersAndWritersMayRace() throws {
        let cache = try cache(right, loader: nil)
        let total = AccessTotal()
        try Blocking.parallel(4) { thread in
            var tally = GroupedTally()
            for _ in 0..<200 {
                tally.access(0) { if thread == 0 { cache.update(&$0) } else { cache.access(&$0) } }
            }
            total.add(tally)
        }
        #expect(total.tally.all.losses.isEmpty)
        #expect(total.tally.all.count == 600)
    }
}
