#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit
import Testing

/// All interleavings of several actors over one slot, a step of the word at a time, with what each does to the value
/// and to its copy modelled beside it.
///
/// The model is what `LazyEntry`, `CacheEntry` and `ReclaimEngine` do between two steps. Every reachable state is
/// visited once, so a run is exhaustive: what is asserted here holds for these actors in every schedule.
@Suite struct ResidencyScheduleTests {
    /// Who works on the slot. Each loops through its program twice.
    enum Actor: Hashable, CaseIterable, Sendable {
        /// Two that read.
        case reader, secondReader
        /// A reclaim that spills, drops, or compresses in memory.
        case evictor, dropper, compressor
        /// The calm worker, which copies ahead, or moves a copy.
        case copier, mover
        /// Writers.
        case setter, invalidator, updater
        /// Who saves the state.
        case saver
    }

    /// How a value without or with a loader starts, and who works on it.
    struct Setup: Sendable, CustomTestStringConvertible {
        var hasLoader: Bool
        var actors: [Actor]
        var testDescription: String {
            "\(actors.map { "\($0)" }.joined(separator: " + "))\(hasLoader ? ", loader" : "")"
        }
    }

    static let setups: [Setup] = {
        var sets: [[Actor]] = []
        let all = Actor.allCases
        for first in all.indices {
            for second in all.indices where second > first {
                sets.append([all[first], all[second]])
                for third in all.indices where third > second { sets.append([all[first], all[second], all[third]]) }
            }
        }
        // One reclaim, one writer and one calm worker at a time: their threads and the writer's lock see to that.
        let kinds: [Set<Actor>] = [
            [.evictor, .dropper, .compressor], [.setter, .invalidator, .updater], [.copier, .mover],
        ]
        return sets.filter { set in kinds.allSatisfy { $0.intersection(set).count <= 1 } }
            .flatMap { actors in [false, true].map { Setup(hasLoader: $0, actors: actors) } }
    }()

    @Test(arguments: setups)
    func nothingIsLostOrTouchedTwiceInAnySchedule(_ setup: Setup) {
        var seen: Set<ScheduleWorld> = []
        var frontier = [ScheduleWorld(setup)]
        while let world = frontier.popLast() {
            guard seen.insert(world).inserted else { continue }
            let next = world.actors.indices.flatMap { world.stepping($0, setup) }
            if let fault = world.fault {
                Issue.record("\(setup.testDescription): \(fault), after \(world.trace)")
                return
            }
            if next.isEmpty, let fault = world.faultAtTheEnd(setup) {
                Issue.record("\(setup.testDescription): \(fault)")
                return
            }
            frontier += next
        }
        #expect(seen.count > 10)
        figure("schedules: \(setup.testDescription): \(seen.count) states")
    }
}
#endif
