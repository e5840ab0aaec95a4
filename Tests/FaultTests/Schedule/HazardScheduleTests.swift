#if !THREAD_SANITIZER  // One thread at a time.
import Testing

/// All interleavings of readers by hazard pointer, and of those who take the bias, count them, and take the value.
///
/// The model is `ReadAccess`, `HazardRecord` and `HazardScan`, one access to memory a step, with the store buffers of the
/// readers' processors. Every reachable state is visited once.
@Suite struct HazardScheduleTests {
    struct Setup: Sendable, CustomTestStringConvertible {
        var readers = 2
        var rounds = 2
        var takers: [HazardWorld.Taker.Kind] = [.evictor]
        var takerRounds = 1
        var draws = 1
        var testDescription: String { "\(readers) readers × \(rounds), \(takers) × \(takerRounds), \(draws) draws" }

        var world: HazardWorld {
            HazardWorld(readers: readers, rounds: rounds, takers: takers, takerRounds: takerRounds, draws: draws)
        }
    }

    @Test(arguments: [
        Setup(), Setup(takers: [.replacer]), Setup(rounds: 1, takers: [.evictor, .replacer]),
        Setup(readers: 1, rounds: 3, takers: [.replacer], takerRounds: 2, draws: 2),
        Setup(readers: 1, rounds: 3, takers: [.evictor, .replacer], draws: 2), Setup(readers: 3, rounds: 1, draws: 0),
    ])
    func nobodyTakesWhatIsRead(_ setup: Setup) {
        let (fault, count) = Self.explore(setup.world, without: nil)
        #expect(fault == nil, "\(setup.testDescription)")
        #expect(count > 1000)
        figure("hazard schedules: \(setup.testDescription): \(count) states")
    }

    /// A model that finds nothing proves nothing: each step that is left out does harm somewhere.
    @Test(arguments: HazardWorld.Omission.allCases)
    func everyStepIsNeeded(_ omission: HazardWorld.Omission) {
        let setups = [Setup(), Setup(takers: [.replacer]), Setup(rounds: 1, takers: [.evictor, .replacer])]
        let faults = setups.compactMap { Self.explore($0.world, without: omission).fault }
        #expect(!faults.isEmpty, "\(omission) does no harm")
    }

    private static func explore(
        _ start: HazardWorld,
        without omission: HazardWorld.Omission?
    ) -> (fault: String?, count: Int) {
        var seen: Set<HazardWorld> = [start]
        var frontier = [start]
        while let world = frontier.popLast() {
            if let fault = world.fault { return (fault, seen.count) }
            let next = world.next(without: omission)
            if next.isEmpty, let fault = world.faultAtTheEnd { return (fault, seen.count) }
            for world in next where seen.insert(world).inserted { frontier.append(world) }
        }
        return (nil, seen.count)
    }
}
#endif
