#if Metrics
import CAllocationCounter
import CoreMetrics
import MetricsTestKit
import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// The handles of swift-metrics: what they are called, and that they say what happened.
@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
    /// The handles, and a manager that tells them what it does, on a clock moved by hand.
    private struct Bench {
        let factory = TestMetrics()
        let metrics: PressureMetrics
        let clock = ManualClock()
        let source = SimulatedSource()
        let manager: PressureManager

        init() throws {
            let metrics = PressureMetrics(factory: factory)
            self.metrics = metrics
            let (clock, source) = (clock, source)
            manager = try makeManager(fileSystem: InMemoryFileSystem()) {
                $0.metrics = metrics
                $0.clock = clock
                $0.isSequential = true
                $0.sources = [.simulated(source)]
            }
        }

        func value(_ meter: Meter) throws -> Double? { try factory.expectMeter(meter).lastValue }
        func total(_ counter: Counter) throws -> Int64 { try factory.expectCounter(counter).totalValue }
    }

    @Test func namesAreOfPrometheusStyleWithTheirUnits() {
        let factory = TestMetrics()
        _ = PressureMetrics(factory: factory)
        let names = Monitoring.names(of: factory)
        #expect(names.all.count == 21)
        for name in names.all { #expect(name.wholeMatch(of: /pressurekit(_[a-z]+)+/) != nil, "\(name)") }
        for name in names.counters { #expect(name.hasSuffix("_total"), "\(name)") }
        for name in names.timers { #expect(name.hasSuffix("_seconds"), "\(name)") }
        for name in names.meters where !["pressurekit_level", "pressurekit_neighbours"].contains(name) {
            #expect(name.hasSuffix("_bytes") || name.hasSuffix("_ratio"), "\(name)")
        }
    }

    @Test func dimensionsOfTheAppsComeWithEveryHandle() {
        let factory = TestMetrics()
        _ = PressureMetrics(factory: factory, dimensions: [("manager", "shop")])
        let all =
            factory.counters.map(\.dimensions) + factory.meters.map(\.dimensions) + factory.timers.map(\.dimensions)
        #expect(all.count == 26)
        for dimensions in all { #expect(dimensions.first.map { $0 == ("manager", "shop") } == true) }
    }

    @Test func aReclaimIsToldWhenItHasEnded() async throws {
        let bench = try Bench()
        let controller = try addController("app", to: bench.manager.root)
        let kept = try controller.cache("kept", initialValue: makeBytes(100_000, seed: 1))
        let made = try controller.cache("made") { makeBytes(50_000, seed: 2) }
        _ = try await made.value()
        let report = await bench.manager.simulateMemoryWarning(.critical)
        #expect(try bench.total(bench.metrics.reclaims) == 1)
        #expect(try bench.total(bench.metrics.claimedBytes) == report.claimed.bytes)
        #expect(try bench.total(bench.metrics.returnedBytes) == max(0, report.returned.bytes))
        #expect(try bench.value(bench.metrics.returnedOverClaimed) == report.returnedOverClaimed)
        #expect(try bench.factory.expectTimer(bench.metrics.reclaimTime).values == [report.duration.nanoseconds])
        let byOutcome = [
            EvictionReport.Outcome.spilled: bench.metrics.spilled, .dropped: bench.metrics.dropped,
            .reused: bench.metrics.reused, .compressed: bench.metrics.compressed,
        ]
        for (outcome, counter) in byOutcome {
            let count = report.evicted.reduce(0) { $0 + ($1.outcome == outcome ? $1.count : 0) }
            #expect(try bench.total(counter) == count, "\(outcome)")
        }
        #expect(try bench.value(bench.metrics.residentBytes) == 0)
        #expect(try bench.value(bench.metrics.spilledBytes) == Double(bench.manager.snapshot().spilled.bytes))
        #expect(try bench.value(bench.metrics.cleanFraction) == 1)
        #expect(try bench.total(bench.metrics.loads) == 1)
        _ = try await kept.value()
        _ = bench.manager.drive()
        #expect(try bench.total(bench.metrics.restores) == 1)
        #expect(try bench.factory.expectTimer(bench.metrics.restoreTime).values.count == 1)
        #expect(try bench.total(bench.metrics.refaults) == bench.manager.snapshot().controllers[1].caches[0].refaults)
    }

    /// Whatever happens in between, what was told is what was counted.
    @Test(arguments: [UInt64(1), 2, 3]) func countersAreTheLibrarysOwn(seed: UInt64) async throws {
        let bench = try Bench()
        var generator = SeededGenerator(seed: seed)
        let caches = try (0..<6).map { index in
            try bench.manager.root.cache("\(index)") { makeBytes(1000 * (index + 1), seed: UInt64(index)) }
        }
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: _ = await bench.manager.reclaim(.bytes(Int.random(in: 1...20_000, using: &generator)))
            case 1:
                bench.clock.advance(by: .milliseconds(Int.random(in: 1...1500, using: &generator)))
                _ = bench.manager.drive()
            default: _ = try caches.randomElement(using: &generator)!.loadIfNeeded()
            }
        }
        bench.clock.advance(by: .seconds(2))
        _ = bench.manager.drive()
        let counted = bench.manager.snapshot().controllers.flatMap(\.caches)
        #expect(try bench.total(bench.metrics.loads) == counted.reduce(0) { $0 + $1.loads }, "seed \(seed)")
        #expect(try bench.total(bench.metrics.restores) == counted.reduce(0) { $0 + $1.restores }, "seed \(seed)")
        #expect(try bench.total(bench.metrics.refaults) == counted.reduce(0) { $0 + $1.refaults }, "seed \(seed)")
        let evictions = [bench.metrics.reused, bench.metrics.spilled, bench.metrics.compressed, bench.metrics.dropped]
        let told = try evictions.reduce(0) { try $0 + bench.total($1) }
        #expect(told == counted.reduce(0) { $0 + $1.evictions }, "seed \(seed)")
    }

    @Test func levelAndHeadroomAreToldOnceASecond() throws {
        let bench = try Bench()
        bench.source.set(available: .gibibytes(3), of: .gibibytes(4))
        for _ in 0..<35 {
            _ = bench.manager.drive()
            bench.clock.advance(by: .milliseconds(100))
        }
        #expect(try bench.factory.expectMeter(bench.metrics.level).values == [0, 0, 0, 0])
        #expect(try bench.value(bench.metrics.headroom) == Double(3 << 30))
        #expect(try bench.value(bench.metrics.limit) == Double(4 << 30))
        // Half a second after the last time: it is the reclaim that tells it.
        bench.source.set(.critical)
        _ = bench.manager.drive()
        #expect(try bench.value(bench.metrics.level) == 2)
        #expect(try bench.value(bench.metrics.score) ?? 0 > 0.6)
    }

    /// P5, with metrics: nothing is told before the memory is free.
    @Test(.enabled(if: pk_allocations_are_counted(), "malloc belongs to a sanitizer here"))
    func tellingAllocatesNothingOnTheWay() async throws {
        let factory = TestMetrics()
        let manager = try makeManager {
            $0.metrics = PressureMetrics(factory: factory)
            $0.allocationProbe = { Int(pk_thread_allocations()) }
        }
        let caches = try (0..<8).map {
            try manager.root.cache("\($0)", initialValue: PageBuffer(makeBytes(9000, seed: 1)))
        }
        // The first reclaim of a process may find things of Swift's own to make.
        _ = await manager.simulateMemoryWarning(.critical)
        for cache in caches { try await cache.lease().value.withBytes { _ in } }
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(report.evictedCount == caches.count)
        #expect(report.allocations == 0)
        #expect(factory.counterTotal(label: "pressurekit_reclaims_total") == 2)
    }

    @Test(.enabled(if: pk_allocations_are_counted(), "malloc belongs to a sanitizer here"))
    func aHotReadAllocatesNothingWithMetrics() throws {
        let manager = try makeManager(fileSystem: InMemoryFileSystem()) {
            $0.metrics = PressureMetrics(factory: TestMetrics())
        }
        let cache = try manager.root.cache("value", initialValue: makeBytes(1000, seed: 1))
        var sum = 0
        for _ in 0..<10 { try cache.withValue { sum += $0.count } }
        let before = pk_thread_allocations()
        for _ in 0..<100 { try cache.withValue { sum += $0.count } }
        #expect(pk_thread_allocations() == before)
        #expect(sum == 110_000)
    }

    // MARK: Pace

    @Test func goingThroughAllValuesTakesAHundredthOfTheTimeAtMost() {
        var pace = MeterPace()
        var (now, spent, rounds) = (MonotonicInstant(nanoseconds: 0), Duration.zero, 0)
        let cost = Duration.milliseconds(50)
        for _ in 0..<1200 {
            now = now + .milliseconds(100)
            let due = pace.due(at: now, isNormal: true)
            guard due.tiers else { continue }
            now = now + cost
            spent += cost
            rounds += 1
            pace.noteTiers(cost, at: now)
        }
        #expect(rounds == 24)
        #expect(spent * 100 <= .seconds(121))
    }

    @Test func underPressureCountsAreToldAndValuesAreNotGoneThrough() {
        var pace = MeterPace()
        let start = MonotonicInstant(nanoseconds: 0)
        #expect(pace.due(at: start, isNormal: false) == .init(counts: true, tiers: false))
        #expect(pace.due(at: start + .milliseconds(999), isNormal: false) == .init())
        #expect(pace.due(at: start + .seconds(1), isNormal: true) == .init(counts: true, tiers: true))
    }

    @Test func whatWasToldIsNotToldAgain() {
        let statistics = CacheStatistics()
        for _ in 0..<3 { statistics.noteLoad(.zero) }
        statistics.refaults.wrappingAdd(2, ordering: .relaxed)
        var counts = UnreportedCounts()
        statistics.takeUnreported(into: &counts)
        #expect(counts == UnreportedCounts(loads: 3, refaults: 2))
        statistics.takeUnreported(into: &counts)
        #expect(counts == UnreportedCounts(loads: 3, refaults: 2))
    }
}
#endif
