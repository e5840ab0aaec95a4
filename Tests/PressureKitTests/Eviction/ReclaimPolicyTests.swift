import PressureKitTestSupport
import PressureKitTesting
import Synchronization
import Testing

@testable import PressureKit

/// The order, the deadline, the prediction and the refaults, through a whole manager.
@Suite(.timeLimit(.minutes(2))) struct ReclaimPolicyTests {
    /// Bytes that move a clock on by a second when they leave memory.
    private struct TimedBytes: Spillable {
        /// Clocks by number: a value that is read back has nothing but its bytes to find its own by.
        static let clocks = Lock<[ManualClock]>([])

        final class Ticker: Sendable {
            let clock: ManualClock
            init(_ clock: ManualClock) { self.clock = clock }
            deinit { clock.advance(by: .seconds(1)) }
        }

        let words: [Int]
        private let ticker: Ticker

        /// 10,000 bytes, the first word being the clock's number.
        init(clock number: Int, seed: Int) {
            self.init([number] + (0..<1249).map { $0 &* seed })
        }

        private init(_ words: [Int]) {
            self.words = words
            ticker = Ticker(Self.clocks.withLock { $0[words[0]] })
        }

        var spillByteCount: Int { words.spillByteCount }
        func withSpillBytes(_ body: (RawSpan) -> Void) { words.withSpillBytes(body) }
        init(spillByteCount: Int, restoringWith fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
            unsafe try self.init([Int](spillByteCount: spillByteCount, restoringWith: fill))
        }
    }

    /// A manager on a clock that moves by a second with every eviction, with values that can only be spilled.
    private struct Stage {
        let clock = ManualClock()
        let manager: PressureManager
        let caches: [LazyCache<TimedBytes>]
        private let number: Int

        init(values: Int = 8, policy: any EvictionPolicy = CostAware()) throws {
            let clock = clock
            let number = TimedBytes.clocks.withLock { clocks in
                clocks.append(clock)
                return clocks.count - 1
            }
            self.number = number
            manager = try makeManager(fileSystem: InMemoryFileSystem()) { configuration in
                configuration.clock = clock
                configuration.policy = policy
            }
            let controller = try addController("app", to: manager.root)
            caches = try (0..<values).map { seed in
                try controller.cache("\(seed)", initialValue: TimedBytes(clock: number, seed: seed))
            }
        }

        /// Whether every value is what it was.
        func areAllIntact() throws -> Bool {
            try caches.enumerated().allSatisfy { seed, cache in
                try cache.withValue { $0.words == [number] + (0..<1249).map { $0 &* seed } }
            }
        }
    }

    // MARK: Deadline

    /// Values are begun before the deadline and finished after it; the others stay, and the report says why. Spilled
    /// ones first, then, on the way out again, clean ones.
    @Test func aDeadlineBeginsNoMoreValues() async throws {
        let stage = try Stage()
        for _ in 0..<2 {
            let report = await stage.manager.enterBackground(within: .milliseconds(2500))
            #expect(report.evicted.count == 3)
            #expect(report.claimed == .bytes(30_000))
            #expect(report.skipped.map(\.reason) == Array(repeating: .deadline, count: 5))
            #expect(report.skipped.reduce(.zero) { $0 + $1.bytes } == .bytes(50_000))
            #expect(try stage.areAllIntact())
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-5)])
    func noTimeEvictsNothing(limit: Duration) async throws {
        let stage = try Stage()
        let report = await stage.manager.enterBackground(within: limit)
        #expect(report.evicted.isEmpty)
        #expect(report.skipped.count == 8)
        #expect(stage.caches.allSatisfy { $0.isLoaded })
    }

    @Test(arguments: [nil, Duration.seconds(Int64.max), .seconds(100)])
    func enoughTimeEvictsEverything(limit: Duration?) async throws {
        let stage = try Stage()
        let report = await stage.manager.enterBackground(within: limit)
        #expect(report.evicted.count == 8)
        #expect(report.skipped.isEmpty)
        #expect(try stage.areAllIntact())
    }

    /// A wish that joins a reclaim is not cut short by the other's hurry.
    @Test func aDeadlineDoesNotCutAnotherWishShort() async throws {
        let stage = try Stage()
        let hook = BackgroundHook()
        stage.manager.delegate = hook
        async let hurried = stage.manager.enterBackground(within: .zero)
        // Not blocking: there may be no more threads for tasks than tests that block.
        while !hook.isReached { await Task.yield() }
        async let patient = stage.manager.reclaim(.bytes(20_000))
        while stage.manager.pendingReplies < 2 { await Task.yield() }
        hook.release()
        let (one, two) = await (hurried, patient)
        #expect(one.claimed >= .bytes(20_000))
        #expect(two.claimed == one.claimed)
    }

    /// Holds the reclaim thread in the hook that comes first.
    private final class BackgroundHook: PressureManagerDelegate {
        private let state = ConditionLock((reached: false, released: false))

        func managerDidEnterBackground() {
            state.withLock { $0.reached = true }
            state.wait { $0.released ? () : nil }
        }

        var isReached: Bool { state.withLock { $0.reached } }
        func release() { state.withLock { $0.released = true } }
    }

    // MARK: Order and prediction

    /// Whatever the order, a reclaim frees what it is asked for and loses nothing.
    @Test(arguments: everyPolicy)
    func everyOrderFreesAndKeeps(_ policy: any EvictionPolicy) async throws {
        let stage = try Stage(policy: policy)
        for _ in 0..<3 {
            let report = await stage.manager.reclaim(.bytes(25_000))
            #expect(report.claimed == (policy.takesEverything ? .bytes(80_000) : .bytes(30_000)))
            #expect(report.predicted.bytes == report.claimed)
            #expect(try stage.areAllIntact())
        }
    }

    @Test func thePlanSaysWhatItExpects() async throws {
        let stage = try Stage()
        let report = await stage.manager.reclaim(.bytes(20_000))
        #expect(report.predicted.bytes == .bytes(20_000))
        #expect(report.predicted.duration > .zero)
        #expect(report.predicted.futureCost > .zero)
        let nothing = await stage.manager.simulateMemoryWarning(.normal)
        #expect(nothing.predicted == EvictionReport.Prediction())
    }

    // MARK: Refaults

    @Test func anEvictionThatWasWrongIsCounted() async throws {
        let stage = try Stage(values: 4)
        _ = await stage.manager.enterBackground()
        for (number, cache) in stage.caches.enumerated() {
            // Other tests move the clock too; so the horizon is set, not waited for.
            cache.entry.statistics.horizon.store(number < 3 ? .max : 0, ordering: .relaxed)
            _ = UseClock.tick()
            try cache.loadIfNeeded()
        }
        let snapshot = stage.manager.snapshot()
        let caches = snapshot.controllers.flatMap(\.caches)
        #expect(caches.map(\.refaults) == [1, 1, 1, 0])
        #expect(caches.map(\.refaultRate) == [1, 1, 1, 0])
        #expect(snapshot.refaultRate == 0.75)
        try stage.caches[0].loadIfNeeded()
        #expect(stage.manager.snapshot().refaultRate == 0.75)
    }
}
