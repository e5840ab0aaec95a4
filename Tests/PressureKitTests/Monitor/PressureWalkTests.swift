#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import PressureKitTestSupport
import PressureKitTesting
import Testing

/// What holds whatever happens.
@Suite struct PressureWalkTests {
    /// Random headrooms, demands, silences, reclaims and sleeps. Each seed is a different life.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func theRulesHoldOnEveryWalk(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let timings = PressureTimings()
        var bench = ClassifierBench(sources: 2)
        var available = 500
        var demand = PressureLevel.normal
        var level = PressureLevel.normal
        var lastDown: MonotonicInstant?
        var early = 0
        var lastWish: (level: PressureLevel, at: MonotonicInstant)?
        var lastReclaim: (level: PressureLevel, cost: Duration, returned: Int, at: MonotonicInstant)?

        for step in 0..<3_000 {
            let context: Comment = "seed \(seed), step \(step)"
            available = min(1000, max(0, available + Int.random(in: -60...60, using: &random)))
            if Int.random(in: 0..<40, using: &random) == 0 {
                demand = PressureLevel.allCases.randomElement(using: &random)!
            }
            let pause = Duration.milliseconds(Int.random(in: 0...4_000, using: &random))
            let now = bench.now + pause
            let decision = bench.step(
                after: pause,
                Bool.random(using: &random) ? ClassifierBench.headroom(available, at: now) : nil,
                Int.random(in: 0..<4, using: &random) == 0 ? nil : ClassifierBench.demand(demand, at: now)
            )

            #expect(bench.nextPoll >= .milliseconds(5) && bench.nextPoll <= .seconds(5), context)
            #expect(bench.classifier.score >= 0 && bench.classifier.score <= 1, context)
            guard let decision else {
                #expect(bench.level == level, context)
                continue
            }
            #expect(decision.cause.levelBefore == level, context)
            #expect(decision.level == bench.level, context)
            #expect(decision.levelChanged || decision.reclaim != nil, context)
            if decision.level < level {
                #expect(decision.level.rawValue == level.rawValue - 1, "one level at a time, \(context)")
                if let lastDown { #expect(now - lastDown >= timings.dwell, context) }
                #expect(decision.reclaim == nil, context)
                lastDown = now
            } else if decision.level > level {
                lastDown = nil
            }
            level = decision.level

            guard let reclaim = decision.reclaim else { continue }
            #expect(reclaim.level == level && level > .normal, context)
            #expect(reclaim.bytes != .zero, context)
            var paced = now
            if let lastWish, lastWish.level >= level { paced = max(paced, lastWish.at + timings.repetition(level)) }
            if let lastReclaim, lastReclaim.level >= level {
                paced = max(paced, lastReclaim.at + max(timings.pause(level), lastReclaim.cost * 20))
                if lastReclaim.returned < 1 { paced = max(paced, lastReclaim.at + .seconds(30)) }
            }
            if paced > now {
                // Only where memory would be gone by then, and the last reclaim has shown that there is more to get.
                let exhaustion = bench.classifier.vote(at: 0).exhaustion
                #expect(level == .critical, context)
                #expect(exhaustion.map { now + $0 < paced } ?? false, context)
                #expect(lastReclaim.map { $0.returned >= 1 && now - $0.at >= timings.shortestPoll } ?? false, context)
                #expect(lastReclaim.map { $0.at >= lastWish!.at } ?? false, context)
                early += 1
            }
            lastWish = (level, now)
            // Most wishes are granted, at some cost.
            guard Int.random(in: 0..<4, using: &random) > 0 else { continue }
            let cost = Duration.milliseconds(Int.random(in: 0...1_500, using: &random))
            let returned = Int.random(in: 0...200, using: &random)
            bench.now = bench.now + cost
            bench.classifier.noteReclaim(at: level, duration: cost, returned: .mebibytes(returned), end: bench.now)
            lastReclaim = (level, cost, returned, bench.now)
        }
        #expect(early > 0, "no walk of this length is without a fall during a pause")
    }

    /// Source and levels, tick by tick of 5 s: dwell is two ticks and one level at a time.
    @Test(arguments: [
        ("nnnn", "nnnn"),
        ("nnww-ccc--nn-----", "nnwwwcccccccwwnnn"),
        ("c-----------", "ccccccccwwnn"),
        ("nwnwnwnwnn--", "nwwwwwwwwwnn"),
        ("nwnnn", "nwwwn"),
        ("cwnnnnnnn", "cccwwnnnn"),
        ("cncncnnnnnn", "cccccccwwnn"),
        ("----", "nnnn"),
    ])
    func marbles(source: String, levels: String) throws {
        let clock = ManualClock()
        let marbles = MarbleSource(source, tick: .seconds(5), clock: clock)
        let monitor = try PressureMonitor(sources: [marbles], clock: clock) { _ in }
        var seen = ""
        for _ in 0..<marbles.count {
            monitor.tick()
            seen.append(monitor.level.description.first!)
            clock.advance(by: .seconds(5))
        }
        #expect(seen == levels)
    }
}
#endif
