import Foundation
import PressureKit
import Testing

@testable import SampleContent
@testable import pressuresim

/// The reads, on a clock that only they move.
@Suite struct WorthLoadTests {
    /// Answers each read after a millisecond; every tenth takes eleven.
    private final class SlowStore: WorthStore {
        let clock = StepClock()
        let reads = Lock<[Int]>([])
        let answer: @Sendable (Int, ([UInt8]) -> Bool) throws -> Bool

        init(_ answer: @escaping @Sendable (Int, ([UInt8]) -> Bool) throws -> Bool = { _, _ in true }) {
            self.answer = answer
        }

        func read(_ key: Int, _ body: ([UInt8]) -> Bool) throws -> Bool {
            let count = reads.withLock {
                $0.append(key)
                return $0.count
            }
            clock.advance(by: .milliseconds(count.isMultiple(of: 10) ? 11 : 1))
            return try answer(key, body)
        }

        func removeAll() {}
    }

    private static func job(readers: Int = 1) -> WorthJob {
        WorthJob(
            contender: .lru,
            bound: .mebibytes(1),
            content: WorthContent(path: "/nowhere", valueSize: 64, count: 300, slot: 4096),
            firstKey: 100,
            count: 100,
            fillCount: 60,
            zipf: 0.9,
            readers: readers,
            seed: 1
        )
    }

    @Test func theMostPopularAreFilledInLast() throws {
        let store = SlowStore()
        try WorthLoad(Self.job(), store, clock: store.clock).fill()
        let keys = WorthKeys(count: 100, alpha: 0.9)
        #expect(store.reads.withLock { $0 } == (1...60).reversed().map { 100 + keys.key(ofRank: $0) })
    }

    @Test func severalReadersFillInEachValueOnce() throws {
        let store = SlowStore()
        try WorthLoad(Self.job(readers: 3), store, clock: store.clock).fill()
        let keys = WorthKeys(count: 100, alpha: 0.9)
        #expect(store.reads.withLock { $0.sorted() } == (1...60).map { 100 + keys.key(ofRank: $0) }.sorted())
    }

    @Test func whereTheSourceIsFarAwayManyFill() throws {
        let store = SlowStore()
        var job = Self.job()
        job.source.loadNanoseconds = 1
        job.fillCount = 100
        try WorthLoad(job, store, clock: store.clock).fill()
        #expect(store.reads.withLock { $0.sorted() } == Array(100..<200))
        #expect(job.source.fillers == 32 && Self.job().source.fillers == 1)
    }

    @Test func whatIsMeasuredIsTheTimeThatCounts() throws {
        let store = SlowStore()
        let load = WorthLoad(Self.job(), store, clock: store.clock)
        let start = store.clock.now().nanoseconds
        // Ten reads take 20 ms: 5 times that is not counted, 10 times that is.
        try load.read(WorthWindow(start: start, from: start + 100_000_000, to: start + 300_000_000))
        #expect(load.reads == 150)
        // The one that ends where the time begins counts, as does the one that goes beyond its end.
        #expect((100...102).contains(load.tally.latencies.count))
        #expect(abs(try #require(load.tally.latencies.percentile(50)) - 1e-3) < 1e-5)
        #expect(abs(try #require(load.tally.latencies.percentile(99)) - 11e-3) < 1e-4)
        #expect(load.tally.wrong + load.tally.failed == 0)
        #expect(store.reads.withLock { $0.allSatisfy { 100..<200 ~= $0 } })
    }

    @Test(arguments: [(8, 3), (9, 2)]) func manyReadersKeepADigitLessEach(readers: Int, digits: Int) throws {
        var tally = WorthLoad.Tally(readers: readers)
        for nanoseconds in stride(from: Int64(1 << 20), to: 2 << 20, by: 500) {
            tally.latencies.record(nanoseconds: nanoseconds)
        }
        // As far apart as two can be and still be told from each other.
        let steps = tally.latencies.counts.map(\.nanoseconds)
        let widest = try #require(zip(steps, steps.dropFirst()).map { $1 - $0 }.max())
        #expect(widest * (digits == 3 ? 1000 : 100) <= 1 << 20)
        #expect(widest * (digits == 3 ? 2100 : 210) > 1 << 20)
        // What they keep goes together.
        let store = SlowStore()
        let load = WorthLoad(Self.job(readers: readers), store, clock: store.clock)
        let start = store.clock.now().nanoseconds
        try load.read(WorthWindow(start: start, from: start, to: start + 300_000_000))
        // The clock is everybody's: a read may begin when the time is over.
        #expect((load.reads - readers...load.reads).contains(load.tally.latencies.count) && load.reads > readers)
    }

    @Test func whatIsWrongOrFailsIsCountedAndTold() throws {
        let store = SlowStore { key, body in
            if key.isMultiple(of: 3) { throw SurvivalLoss() }
            return body([])
        }
        let load = WorthLoad(Self.job(), store, clock: store.clock)
        let start = store.clock.now().nanoseconds
        try load.read(WorthWindow(start: start, from: start, to: start + 40_000_000))
        #expect(load.tally.wrong + load.tally.failed == 20)
        #expect(load.tally.wrong > 0 && load.tally.failed > 0)
        #expect(load.tally.complaints.count == 5)
        #expect(load.tally.complaints.contains { $0.hasSuffix("is another one") })
    }
}

/// What is made of what was measured.
@Suite struct WorthFiguresTests {
    @Test func durationsAreTheSameInAnotherProcess() {
        var latencies = Latencies()
        var random = SplitMix64(seed: 5)
        for _ in 0..<10_000 { latencies.record(nanoseconds: Int64.random(in: 1...5_000_000_000, using: &random)) }
        var copy = Latencies()
        copy.add(latencies.counts)
        #expect(copy.count == latencies.count)
        // To the three digits that are kept.
        for percent in [0.0, 50, 99, 99.9, 100] {
            let (one, other) = (copy.percentile(percent) ?? 0, latencies.percentile(percent) ?? 0)
            #expect(abs(one - other) <= other / 1000, "\(percent)")
        }
        copy.add([.init(nanoseconds: 7, count: -3), .init(nanoseconds: -7, count: 2)])
        #expect(copy.count == latencies.count + 2)
    }

    @Test func usesAreThoseOfTheTimeThatCounts() {
        var latencies = Latencies()
        for index in 1...1000 { latencies.record(nanoseconds: Int64(index) * 1000) }
        let sights = [(0, 1), (5, 60), (6, 80), (10, 100)].map {
            WorthCurve.Sight(at: Int64($0) * 1_000_000_000, usage: $1, anonymous: $1 / 2)
        }
        let window = WorthWindow(start: 0, from: 5_000_000_000, to: 10_000_000_000)
        let figures = WorthFigures(latencies, loads: 250, sights, window, limit: .bytes(100))
        #expect(figures.readsPerSecond == 200)
        #expect(figures.loadShare == 0.25)
        #expect(figures.meanUse == 0.7)
        #expect(figures.leastUse == 0.6)
        #expect(figures.meanAnonymousBytes == 35)
        #expect(abs(figures.p50 - 500e-6) < 1e-6)
        #expect(abs(figures.p99 - 990e-6) < 1e-6)
        #expect(abs(figures.p999 - 999e-6) < 1e-6)
        #expect(abs(figures.longest - 1000e-6) < 1e-6)
        #expect(WorthFigures(Latencies(), [], window, limit: .bytes(100)) == WorthFigures())
    }

    @Test func loadsCountFromTheTimeThatCountsOn() {
        let loads = WorthLoads()
        func note(_ times: [Int64]) { for time in times { loads.note(at: MonotonicInstant(nanoseconds: time)) } }
        note([1, 5, 9])
        #expect(loads.count == 0)
        loads.begin(WorthWindow(start: 0, from: 5, to: 10))
        note([4, 5, 9, 10, 11])
        #expect(loads.count == 2)
    }

    @Test func mediansAreTakenFigureByFigure() {
        func figures(_ reads: Double, _ longest: Double) -> WorthFigures {
            var figures = WorthFigures()
            (figures.readsPerSecond, figures.longest) = (reads, longest)
            return figures
        }
        let medians = WorthFigures.medians([figures(1, 30), figures(3, 10), figures(2, 20)])
        #expect(medians.readsPerSecond == 2)
        #expect(medians.longest == 20)
    }

    @Test func curvesAddUpTheProcesses() {
        func ticks(_ pairs: [(Double, Int)]) -> [WorthCurve.Tick] {
            pairs.map { WorthCurve.Tick(at: Int64($0 * 1e9), count: $1) }
        }
        let one = ticks([(1, 0), (1.5, 100), (2, 300)])
        let other = ticks([(1.1, 0), (2.1, 1000)])
        let sights = [(1.1, 5), (1.4, 7), (1.9, 9)].map {
            WorthCurve.Sight(at: Int64($0 * 1e9), usage: $1, anonymous: 0)
        }
        let window = WorthWindow(start: 1_000_000_000, from: 1_500_000_000, to: 2_000_000_000)
        let curve = WorthCurve([one, other], sights, window)
        #expect(curve.readsPerSecond.map { $0.rounded() } == [800, 1200, 1400, 1400])
        #expect(curve.usageBytes == [5, 7, 7, 9])
        #expect(WorthCurve.reads([], by: 5) == 0)
        #expect(WorthCurve.reads(one, by: 9_000_000_000) == 300)
        #expect(WorthCurve([one], sights, WorthWindow(start: 5, from: 5, to: 5)) == WorthCurve())
    }
}
