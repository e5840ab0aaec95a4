import Glibc
import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

/// Every time that decides or is reported comes from the clock that was injected, and work can be told to it.
@Suite struct InjectedClockTests {
    /// Stands still unless it is told of work: a nanosecond for each byte.
    private final class ToldClock: MonotonicClock {
        private let state = Lock((time: Int64(1_000_000_000), told: [TimedWork: Int]()))

        func now() -> MonotonicInstant { MonotonicInstant(nanoseconds: state.withLock { $0.time }) }

        func spent(on work: TimedWork, byteCount: Int) {
            state.withLock { state in
                state.time += Int64(byteCount)
                state.told[work, default: 0] += byteCount
            }
        }

        func advance(by duration: Duration) { state.withLock { $0.time += duration.nanoseconds } }

        /// Bytes by kind of work.
        var told: [TimedWork: Int] { state.withLock { $0.told } }

        func forget() { state.withLock { $0.told = [:] } }
    }

    private let clock = ToldClock()

    private func manager(configure: (inout PressureConfiguration) -> Void = { _ in }) throws -> PressureManager {
        try makeManager(fileSystem: InMemoryFileSystem()) { [clock] configuration in
            configuration.clock = clock
            configuration.isSequential = true
            configure(&configuration)
        }
    }

    private func statistics(_ controller: PressureController) -> [(loads: Duration?, restores: Duration?)] {
        controller.state.withLock { $0.entries }.map { ($0.statistics.loadTime, $0.statistics.restoreTime) }
    }

    /// Broken before: loads and restores were timed by the system's clock, whatever was injected.
    @Test func loadsAndRestoresAreTimedByIt() async throws {
        let manager = try manager()
        let controller = try addController("app", to: manager.root)
        let clock = clock
        let cache = try controller.cache("loaded") { () -> [UInt8] in
            clock.advance(by: .seconds(7))
            return makeBytes(300_000, seed: 1)
        }
        try cache.loadIfNeeded()
        #expect(statistics(controller)[0].loads == .seconds(7))
        _ = await manager.simulateMemoryWarning(.critical)
        #expect(cache.residency == .spilled)
        clock.forget()
        try cache.withValue { #expect($0 == makeBytes(300_000, seed: 1)) }
        // Nothing else moves the clock, and both chunks were compressed.
        #expect(clock.told == [.decompressing: 300_000])
        #expect(statistics(controller)[0].restores == .nanoseconds(300_000))
    }

    /// Large values one by one, small ones in a batch: both go through encoders that must have the clock.
    @Test(arguments: [1, 40])
    func codecsTellIt(count: Int) async throws {
        let manager = try manager()
        let controller = try addController("app", to: manager.root)
        let size = 600_000 / count
        for index in 0..<count {
            _ = try controller.cache("\(index)", initialValue: makeBytes(size, seed: UInt64(index)))
        }
        clock.forget()
        let start = clock.now()
        let report = await manager.simulateMemoryWarning(.critical)
        #expect(clock.told[.compressing] == size * count)
        #expect((clock.told[.releasing] ?? 0) >= size * count)
        #expect(report.duration == clock.now() - start)
        #expect(report.duration == .nanoseconds(clock.told.values.reduce(0, +)))
    }

    @Test func whatWouldGoOnBesideTheCallerWaitsUntilItIsDriven() async throws {
        let manager = try manager()
        let controller = try addController("page", to: manager.root)
        let caches = try (0..<5).map { try controller.cache("\($0)", initialValue: makeBytes(9_000, seed: UInt64($0))) }
        _ = await manager.simulateMemoryWarning(.critical)
        controller.appear()
        #expect(caches.allSatisfy { $0.residency == .spilled })
        manager.driveDeferredWork()
        #expect(caches.allSatisfy { $0.residency == .resident })
        #expect(manager.tiers.resident == ByteCount(bytes: 45_000))
    }

    @Test func aDecisionIsCarriedOutBeforeTheSampleThatMadeItReturns() throws {
        let signal = SimulatedSource()
        let decisions = Shared<[PressureLevel]>([])
        let reclaims = Shared(0)
        let manager = try manager { configuration in
            configuration.sources = [.simulated(signal)]
            configuration.observer = ManagerObserver(
                decided: { decision in decisions.change { $0.append(decision.cause.levelAfter) } },
                reclaimed: { _ in reclaims.change { $0 += 1 } }
            )
        }
        let controller = try addController("app", to: manager.root)
        let cache = try controller.cache("value", initialValue: makeBytes(9_000, seed: 1))
        #expect(manager.drive() > .zero)
        #expect(cache.residency == .resident)
        signal.set(.critical)
        // A reclaim asks for another look at once.
        #expect(manager.drive() == .zero)
        #expect(cache.residency == .spilled)
        #expect(!manager.isReclaiming)
        #expect(manager.level == .critical)
        #expect(decisions.value == [.critical] && reclaims.value == 1)
    }

    @Test func returnedIsWhatTheOverrideSays() async throws {
        let resident = Shared(1_000_000)
        let manager = try manager { configuration in
            configuration.residentBytes = {
                resident.change { bytes in
                    defer { bytes -= 1_000 }
                    return bytes
                }
            }
        }
        let controller = try addController("app", to: manager.root)
        _ = try controller.cache("value", initialValue: makeBytes(900, seed: 1))
        #expect(await manager.simulateMemoryWarning(.critical).returned == ByteCount(bytes: 1_000))
    }

    /// The delegate is told on another thread while the reclaim moves the clock on by far more than its patience.
    @Test func hooksAreWaitedForThoughTheClockRuns() async throws {
        final class Sleeper: PressureControllerDelegate {
            let evicted = Shared(0)
            func resourceWillEvict(_ resource: PressureResource) { sched_yield() }
            func resourceDidEvict(_ resource: PressureResource) { evicted.change { $0 += 1 } }
        }
        let manager = try manager()
        let controller = try addController("app", to: manager.root)
        let delegate = Sleeper()
        controller.delegate = delegate
        let clock = clock
        for index in 0..<200 {
            _ = try controller.cache("\(index)", initialValue: makeBytes(20_000, seed: UInt64(index)))
        }
        let ticker = Shared(true)
        try WorkerThread.spawn("ticker") { while ticker.value { clock.advance(by: .seconds(1)) } }
        let report = await manager.simulateMemoryWarning(.critical)
        ticker.set(false)
        #expect(report.unheard.isEmpty)
        #expect(delegate.evicted.value == 200)
    }
}
