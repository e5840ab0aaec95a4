import PressureKit
import Testing

@testable import SampleContent
@testable import pressuresim

@Suite struct VirtualPaceTests {
    private let clock = VirtualClock()

    private func pace(_ stop: StopSignal = StopSignal()) -> VirtualPace { VirtualPace(clock: clock, stop: stop) }

    private var elapsed: Duration { clock.now() - VirtualClock.origin }

    @Test func sleepingTakesNoTimeAndMovesTheClock() {
        pace().sleep(.seconds(7200))
        #expect(elapsed == .seconds(7200))
    }

    @Test func sleepsSideBySideOverlap() throws {
        let pace = pace()
        try pace.parallel(3) { pace.sleep(.seconds(Int64($0) + 1)) }
        #expect(elapsed == .seconds(3))
    }

    /// Whoever has had least of the processor goes next; of those that have had the same, the first.
    @Test(arguments: [
        ([1, 1, 1], [0, 1, 2, 0, 1, 2]),
        ([1, 3, 1], [0, 1, 2, 0, 2, 1]),
        ([5, 1, 2], [0, 1, 2, 1, 2, 0]),
    ])
    func turnsFollowTheTimeThatEachHasHad(costs: [Int], order: [Int]) throws {
        let pace = pace()
        let turns = Lock<[Int]>([])
        try pace.parallel(costs.count) { lane in
            for _ in 0..<2 {
                turns.withLock { $0.append(lane) }
                pace.spend(.seconds(Int64(costs[lane])))
                _ = pace.goesOn()
            }
        }
        #expect(turns.withLock { $0 } == order)
        #expect(elapsed == .seconds(Int64(costs.reduce(0, +) * 2)))
    }

    @Test func whatIsSideBySideMayItselfDoThingsSideBySide() throws {
        let pace = pace()
        let ended = Lock<[String]>([])
        try pace.parallel(2) { outer in
            try? pace.parallel(2) { inner in
                pace.sleep(.seconds(Int64(2 * outer + inner)))
                ended.withLock { $0.append("\(outer).\(inner)") }
            }
        }
        #expect(ended.withLock { $0 } == ["0.0", "0.1", "1.0", "1.1"])
        #expect(elapsed == .seconds(3))
    }

    @Test func whatIsRepeatedComesWhenItIsDue() {
        let pace = pace()
        let times = Lock<[Duration]>([])
        let repetition = pace.repeatedly { [clock] in
            times.withLock { $0.append(clock.now() - VirtualClock.origin) }
            return .seconds(4)
        }
        pace.sleep(.seconds(10))
        #expect(times.withLock { $0 } == [.zero, .seconds(4), .seconds(8)])
        pace.repeatNow()
        pace.sleep(.seconds(3))
        #expect(times.withLock { $0.last } == .seconds(10))
        repetition.end()
        pace.sleep(.seconds(10))
        #expect(times.withLock { $0.count } == 4)
    }

    /// A seeded walk: the same things side by side take the same turns, on threads that the machine schedules as it likes.
    @Test(arguments: 1...5)
    func theOrderDoesNotDependOnThreads(seed: Int) throws {
        func walk() throws -> [String] {
            let clock = VirtualClock()
            let pace = VirtualPace(clock: clock, stop: StopSignal())
            let turns = Lock<[String]>([])
            try pace.parallel(6) { lane in
                var random = SplitMix64(seed: UInt64(seed), stream: UInt64(lane))
                for _ in 0..<40 {
                    if random.unit() < 0.3 {
                        pace.sleep(.nanoseconds(Int64(random.unit() * 1000)))
                    } else {
                        pace.spend(.nanoseconds(Int64(random.unit() * 1000)))
                        _ = pace.goesOn()
                    }
                    turns.withLock { $0.append("\(lane) \(clock.now().nanoseconds)") }
                }
            }
            return turns.withLock { $0 }
        }
        let first = try walk()
        for _ in 0..<3 { #expect(try walk() == first, "seed \(seed)") }
    }

    @Test func whoIsToldToStopSleepsNoMore() throws {
        let stop = StopSignal()
        let pace = pace(stop)
        try pace.parallel(2) { lane in
            if lane == 0 { stop.set() }
            pace.sleep(.seconds(1000))
            #expect(!pace.goesOn())
        }
        #expect(elapsed < .seconds(1000))
    }
}
