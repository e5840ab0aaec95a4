import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// A cache that is larger than its limit, read so fast that thousands of values come between two samples.
@Suite(.timeLimit(.minutes(5))) struct ManyArrivalsTests {
    /// However many small values have come, what is kept is what the limit has room for.
    @Test(arguments: [(32 << 10, 6_000), (4 << 10, 30_000)])
    func manySmallArrivalsDoNotEmptyTheCache(valueBytes: Int, reads: Int) throws {
        let limit = 48 << 20
        let clock = ManualClock()
        let simulated = SimulatedSource()
        simulated.set(available: .bytes(limit), of: .bytes(limit))
        let manager = try PressureManager(configuration: .testing(clock: clock, sources: [.simulated(simulated)]))
        let cache = try manager.root.keyedCache("tiles") { (key: Int) in
            [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: valueBytes)
        }
        let keys = 3 * limit / valueBytes
        var random = SeededGenerator(seed: 7)
        var (least, next) = (Int.max, Duration.zero)
        for read in 0..<reads {
            try cache.withValue(for: Int.random(in: 0..<keys, using: &random)) { #expect($0.count == valueBytes) }
            let resident = cache.residentByteCount
            simulated.set(available: .bytes(limit) - resident, of: .bytes(limit))
            clock.advance(by: .microseconds(100))
            next -= .microseconds(100)
            if next <= .zero { next = manager.drive() }
            if read > reads / 2 { least = min(least, resident.bytes) }
        }
        #expect(least >= limit / 2, "so little was in memory at one time: \(least / (1 << 20)) MiB of 48")
    }
}

/// One shortage, several processes: each frees its part, and stops when the others have freed theirs.
@Suite struct SharedShortageTests {
    private func reading(_ origin: PressureCause.Origin, available: Int) -> SignalReading {
        SignalReading(
            origin: origin,
            source: "limit",
            measure: .headroom(Headroom(available: .mebibytes(available), limit: .mebibytes(1000))!),
            takenAt: MonotonicInstant(nanoseconds: 1_000_000_000)
        )
    }

    private func goal(_ origin: PressureCause.Origin, available: Int, resident: Int?) -> ByteCount? {
        var timings = PressureTimings()
        timings.confirmation = .zero
        var classifier = PressureClassifier(thresholds: .init(), timings: timings, sources: 1)
        var goal: ByteCount?
        for step in 0..<20 as Range<Int64> {
            let now = MonotonicInstant(nanoseconds: 1_000_000_000 + step * 5_000_000)
            goal =
                classifier.step(
                    [reading(origin, available: available)],
                    at: now,
                    resident: resident.map { $0 << 20 }
                ).decision?.reclaim?.bytes ?? goal
        }
        return goal
    }

    /// Of 950 MiB in use; 200 MiB are missing to the end of the warning, twice 100 to that of critical.
    @Test(arguments: [(nil, 200), (950, 200), (2000, 200), (475, 100), (95, 20), (0, 0)] as [(Int?, Int)])
    func aProcessIsAskedForItsPart(resident: Int?, wanted: Int) {
        let found = goal(.cgroup, available: 50, resident: resident)?.bytes ?? 0
        #expect(abs(found - wanted << 20) <= 1)
    }

    @Test func whatOthersDoNotShareIsNotDivided() {
        #expect(goal(.footprint, available: 50, resident: 95) == .mebibytes(200))
        #expect(goal(.memoryInfo, available: 50, resident: 95) == .mebibytes(200))
        #expect(goal(.simulated, available: 50, resident: 95) == .mebibytes(200))
    }

    /// Two managers below one limit, one after the other: what both free together is what was missing.
    @Test func theSecondFreesNoMoreThanIsStillMissing() async throws {
        let looks = Lock(0)
        let manager = try PressureManager(configuration: .testing())
        let cache = try manager.root.keyedCache("tiles") { (key: Int) in [UInt8](repeating: 1, count: 1 << 20) }
        for key in 0..<40 { try cache.loadIfNeeded(for: key) }
        // Others free as well: at the third look there is enough.
        manager.context.isOver = { _ in
            looks.withLock { looks in
                looks += 1
                return looks == 3
            }
        }
        func evict(isMonitored: Bool) async -> EvictionReport {
            var request = manager.request(.mebibytes(30), source: "test")
            request.isMonitored = isMonitored
            return await manager.perform(request)
        }
        let steered = await evict(isMonitored: true)
        #expect(steered.claimed < .mebibytes(14) && steered.claimed >= .mebibytes(12), "looked at every 4 MiB")
        #expect(steered.skipped.isEmpty)
        let asked = await evict(isMonitored: false)
        #expect(asked.claimed >= .mebibytes(27), "the app gets what it asks for")
        #expect(looks.withLock { $0 } == 3)
        await manager.shutdown()
    }
}
