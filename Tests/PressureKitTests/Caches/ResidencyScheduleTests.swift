import PressureKit
import Testing

/// All interleavings of several actors over one slot, a step of the word at a time, with what each does to the value
/// and to its copy modelled beside it.
///
/// The model is what `LazyEntry`, `CacheEntry` and `ReliefEngine` do between two steps. Every reachable state is
/// visited once, so a run is exhaustive: what is asserted here holds for these actors in every schedule.
@Suite struct ResidencyScheduleTests {
    /// Who works on the slot. Each loops through its program twice.
    enum Actor: Hashable, CaseIterable, Sendable {
        case reader, secondReader, evictor, dropper, setter, invalidator, updater
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
        // One relief and one writer at a time: the relief thread and the writer's lock see to that.
        let evictors: Set<Actor> = [.evictor, .dropper]
        let writers: Set<Actor> = [.setter, .invalidator, .updater]
        return sets.filter { evictors.intersection($0).count <= 1 && writers.intersection($0).count <= 1 }
            .flatMap { actors in [false, true].map { Setup(hasLoader: $0, actors: actors) } }
    }()

    @Test(arguments: setups)
    func nothingIsLostOrTouchedTwiceInAnySchedule(_ setup: Setup) {
        var seen: Set<World> = []
        var frontier = [World(setup)]
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
    }
}

/// One slot's storage, as the word is to guard it.
private struct ModelSlot: Hashable {
    var word = ResidencyWord.unloaded
    /// The version in memory, in the finished copy, and in the copy being written.
    var value: Int?
    var copy: Int?
    var draft: Int?
    /// How many readers look at the value now, and whether someone has it to himself.
    var readers = 0
    var isOwned = false
    /// How often it was emptied after it was replaced.
    var recycled = 0
    /// Actors asleep on it.
    var asleep: Set<Int> = []
}

/// Where an actor is in its program. Names say what it does next.
private enum Place: Hashable {
    case start, found, asleep, done
    case loading, restoring, reading
    case copied, clean, releasing
    case mutating, retiring, opening(empties: Bool)
}

private struct ModelActor: Hashable {
    var kind: ResidencyScheduleTests.Actor
    var place = Place.start
    var slot = 0
    var rounds = 2
}

/// All there is at one moment.
private struct World: Hashable {
    var slots: [ModelSlot]
    var current = 0
    var actors: [ModelActor]
    /// The newest version written; the loader makes version 0.
    var newest = 0
    var isGone = false
    var fault: String?
    var trace: String { actors.map { "\($0.kind) \($0.place)" }.joined(separator: ", ") }

    init(_ setup: ResidencyScheduleTests.Setup) {
        var slot = ModelSlot()
        if !setup.hasLoader {
            slot.word = ResidencyWord.mutating.finishingMutation(hasValue: true, stamp: 0)!
            slot.value = 0
        }
        slots = [slot]
        actors = setup.actors.map { ModelActor(kind: $0) }
        isGone = setup.hasLoader
    }

    /// The worlds that one step of an actor may lead to.
    func stepping(_ index: Int, _ setup: ResidencyScheduleTests.Setup) -> [World] {
        guard fault == nil else { return [] }
        switch actors[index].kind {
        case .reader, .secondReader: return reading(index, setup, then: { $0.finish(index) })
        case .evictor, .dropper: return evicting(index)
        case .setter, .invalidator: return replacing(index)
        case .updater: return updating(index, setup)
        }
    }

    /// What must hold when nobody can take another step.
    func faultAtTheEnd(_ setup: ResidencyScheduleTests.Setup) -> String? {
        if let sleeper = actors.first(where: { $0.place != .done }) { return "\(sleeper.kind) never wakes (\(trace))" }
        for (number, slot) in slots.enumerated() {
            if slot.word.pins != 0 { return "slot \(number) is pinned for ever" }
            if number != current, slot.recycled != 1 { return "slot \(number) was emptied \(slot.recycled) times" }
        }
        let slot = slots[current]
        if !isGone, slot.value != newest, slot.copy != newest { return "version \(newest) is lost" }
        return nil
    }

    // MARK: Steps

    private func with(_ change: (inout World) -> Void) -> World {
        var world = self
        change(&world)
        return world
    }

    /// Applies a step of the word; `nil` if it is not legal.
    private func applying(_ slot: Int, _ step: (ResidencyWord) -> ResidencyWord?) -> World? {
        guard let word = step(slots[slot].word) else { return nil }
        return with { world in
            let hadWaiters = world.slots[slot].word.hasWaiters
            world.slots[slot].word = word
            guard hadWaiters, !word.hasWaiters else { return }
            // Whoever clears the bit wakes all.
            for sleeper in world.slots[slot].asleep { world.actors[sleeper].place = .start }
            world.slots[slot].asleep = []
        }
    }

    private mutating func finish(_ index: Int) {
        actors[index].rounds -= 1
        actors[index].place = actors[index].rounds > 0 ? .start : .done
    }

    /// Finds the slot that is current now. Before the next step anything may happen: it may be replaced, even reused.
    private mutating func find(_ index: Int) {
        actors[index].slot = current
        actors[index].place = .found
    }

    private mutating func take(_ slot: Int) {
        if slots[slot].isOwned { fault = "two own slot \(slot)" }
        if slots[slot].readers > 0 { fault = "slot \(slot) was taken from under a reader" }
        slots[slot].isOwned = true
    }

    private mutating func unpin(_ slot: Int) {
        slots[slot].word.rawValue -= 1
        recycleIfAbandoned(slot)
    }

    private mutating func recycleIfAbandoned(_ slot: Int) {
        guard slots[slot].word.isAbandoned else { return }
        empty(slot)
    }

    private mutating func empty(_ slot: Int) {
        if slots[slot].readers > 0 { fault = "slot \(slot) was emptied under a reader" }
        if slots[slot].word.holdsValue != (slots[slot].value != nil) {
            fault = "slot \(slot) forgot whether it has a value"
        }
        if slots[slot].recycled > 0 { fault = "slot \(slot) was emptied twice" }
        slots[slot].recycled += 1
        slots[slot].value = nil
        slots[slot].copy = nil
        slots[slot].word = .retired
    }

    /// A reader: pins, or makes the value, or sleeps. Looks at the value in a step of its own.
    private func reading(
        _ index: Int,
        _ setup: ResidencyScheduleTests.Setup,
        then: (inout World) -> Void
    ) -> [World] {
        let slot = actors[index].slot
        switch actors[index].place {
        case .start:
            return [with { $0.find(index) }]
        case .found:
            if let pinned = applying(slot, { $0.pinning(stamp: 0) }) {
                return [pinned.with { $0.look(index, slot) }]
            }
            if let begun = applying(slot, { $0.beginningLoad() }) {
                return [
                    begun.with {
                        $0.take(slot); $0.actors[index].place = .loading
                    }
                ]
            }
            if let begun = applying(slot, { $0.beginningRestore() }) {
                return [
                    begun.with {
                        $0.take(slot); $0.actors[index].place = .restoring
                    }
                ]
            }
            if let waiting = applying(slot, { $0.awaiting() }) {
                return [
                    waiting.with {
                        $0.actors[index].place = .asleep; $0.slots[slot].asleep.insert(index)
                    }
                ]
            }
            return [with { $0.actors[index].place = .start }]
        case .loading:
            // Succeeds, or throws; without a loader it throws `noValue`.
            var worlds = [loaded(index, nil)]
            if setup.hasLoader { worlds.append(loaded(index, 0)) }
            return worlds
        case .restoring:
            return [restored(index, true), restored(index, false)]
        case .reading:
            return [
                with { world in
                    world.slots[slot].readers -= 1
                    if world.slots[slot].value == nil { world.fault = "slot \(slot) was emptied under a reader" }
                    world.unpin(slot)
                    then(&world)
                }
            ]
        default: return []
        }
    }

    private mutating func look(_ index: Int, _ slot: Int) {
        actors[index].place = .reading
        slots[slot].readers += 1
        if slots[slot].isOwned { fault = "a reader got in beside the owner of slot \(slot)" }
        if slots[slot].value == nil { fault = "a reader found nothing in slot \(slot)" }
        if slots[slot].value != newest { fault = "a reader came after version \(newest) and did not see it" }
    }

    private func loaded(_ index: Int, _ version: Int?) -> World {
        let slot = actors[index].slot
        guard let version else {
            return (applying(slot) { $0.failingLoad() } ?? with { $0.unpin(slot) }).with { world in
                world.slots[slot].isOwned = false
                world.finish(index)
            }
        }
        guard let done = applying(slot, { $0.finishingLoad(stamp: 0) }) else { return superseded(index) }
        return done.with { world in
            world.slots[slot].isOwned = false
            // What the loader makes now is what counts, if there was nothing newer.
            if !world.isGone, world.newest != version {
                world.fault = "the loader's value took the place of version \(world.newest)"
            }
            world.slots[slot].value = version
            world.slots[slot].copy = nil
            world.newest = version
            world.isGone = false
            world.look(index, slot)
        }
    }

    private func restored(_ index: Int, _ isReadable: Bool) -> World {
        let slot = actors[index].slot
        if isReadable {
            guard let done = applying(slot, { $0.finishingRestore(stamp: 0) }) else { return superseded(index) }
            return done.with { world in
                world.slots[slot].isOwned = false
                if world.slots[slot].copy == nil { world.fault = "restored without a copy" }
                world.slots[slot].value = world.slots[slot].copy
                world.look(index, slot)
            }
        }
        if let rebuilding = applying(slot, { $0.rebuilding() }) {
            return rebuilding.with { $0.actors[index].place = .loading }
        }
        guard let failed = applying(slot, { $0.failingRestore() }) else { return superseded(index) }
        return failed.with { world in
            world.slots[slot].isOwned = false
            world.finish(index)
        }
    }

    /// The slot was replaced while its value was being made: the maker gives up the pin it was given, and looks again.
    private func superseded(_ index: Int) -> World {
        with { world in
            let slot = world.actors[index].slot
            world.slots[slot].isOwned = false
            world.unpin(slot)
            world.actors[index].place = .start
        }
    }

    /// A relief: lists the slot, copies, releases; or drops.
    private func evicting(_ index: Int) -> [World] {
        let slot = actors[index].slot
        switch actors[index].place {
        case .start:
            return [with { $0.find(index) }]
        case .found where actors[index].kind == .dropper || slots[slot].word.isClean:
            return [with { $0.actors[index].place = .clean }]
        case .found:
            guard let begun = applying(slot, { $0.beginningCopy() }) else { return [with { $0.finish(index) }] }
            return [
                begun.with {
                    $0.slots[slot].draft = $0.slots[slot].value; $0.actors[index].place = .copied
                }
            ]
        case .copied:
            return [true, false].map { succeeded in
                applying(slot, { $0.finishingCopy(succeeded: succeeded) })!.with { world in
                    if world.slots[slot].value != world.slots[slot].draft {
                        world.fault = "changed while it was copied"
                    }
                    world.slots[slot].copy = succeeded ? world.slots[slot].draft : nil
                    world.slots[slot].draft = nil
                    world.recycleIfAbandoned(slot)
                    if succeeded { world.actors[index].place = .clean } else { world.finish(index) }
                }
            }
        case .clean:
            let isDropping = actors[index].kind == .dropper
            guard let begun = applying(slot, { $0.beginningRelease(dropping: isDropping) }) else {
                return [with { $0.finish(index) }]
            }
            return [
                begun.with {
                    $0.take(slot); $0.actors[index].place = .releasing
                }
            ]
        case .releasing:
            return [
                applying(slot, { $0.finishingRelease() })!.with { world in
                    world.slots[slot].isOwned = false
                    let isKept = world.slots[slot].word.phase == .spilled
                    if isKept, world.slots[slot].copy != world.slots[slot].value {
                        world.fault = "spilled without its copy"
                    }
                    // Gone, but the loader makes it again: only version 0 may go this way.
                    if !isKept, world.slots[slot].value != 0 { world.fault = "version \(world.newest) was dropped" }
                    if !isKept { world.isGone = true }
                    world.slots[slot].value = nil
                    world.finish(index)
                }
            ]
        default: return []
        }
    }

    /// `set` and `invalidate`: in place if nobody holds the value, else another slot.
    private func replacing(_ index: Int) -> [World] {
        let slot = actors[index].slot
        let hasValue = actors[index].kind == .setter
        switch actors[index].place {
        case .start:
            return [with { $0.find(index) }]
        case .found:
            if let begun = applying(slot, { $0.beginningMutation() }) {
                return [
                    begun.with {
                        $0.take(slot); $0.actors[index].place = .mutating
                    }
                ]
            }
            switch slots[slot].word.phase {
            case .resident, .loading, .restoring: return [putting(index, hasValue)]
            default: return [with { $0.actors[index].place = .start }]
            }
        case .mutating: return [mutated(index, hasValue)]
        default: return put(index, hasValue)
        }
    }

    private func mutated(_ index: Int, _ hasValue: Bool) -> World {
        let slot = actors[index].slot
        return applying(slot, { $0.finishingMutation(hasValue: hasValue, stamp: 0) })!.with { world in
            world.slots[slot].isOwned = false
            world.write(hasValue, in: slot)
            world.finish(index)
        }
    }

    private mutating func write(_ hasValue: Bool, in slot: Int) {
        newest += hasValue ? 1 : 0
        isGone = !hasValue
        slots[slot].value = hasValue ? newest : nil
        slots[slot].copy = nil
    }

    /// A fresh slot, owned by the writer, becomes the one that readers find.
    private func putting(_ index: Int, _ hasValue: Bool) -> World {
        with { world in
            if let spare = world.slots.firstIndex(where: { $0.recycled > 0 }) {
                world.slots[spare].word = .mutating
                world.slots[spare].recycled = 0
                world.slots[spare].isOwned = true
                world.current = spare
            } else {
                world.slots.append(ModelSlot(word: .mutating, isOwned: true))
                world.current = world.slots.count - 1
            }
            world.actors[index].place = .retiring
        }
    }

    private func put(_ index: Int, _ hasValue: Bool) -> [World] {
        let old = actors[index].slot
        switch actors[index].place {
        case .retiring:
            guard let retired = applying(old, { $0.retiring() }) else { return [] }
            return [retired.with { $0.actors[index].place = .opening(empties: $0.slots[old].word.isAbandoned) }]
        case .opening(let empties):
            let opened = applying(current, { $0.finishingMutation(hasValue: hasValue, stamp: 0) })!
            return [
                opened.with { world in
                    world.slots[world.current].isOwned = false
                    world.write(hasValue, in: world.current)
                    if empties { world.empty(old) }
                    world.finish(index)
                }
            ]
        default: return []
        }
    }

    /// `update`: pins like a reader, then takes the value over, or changes a copy of it.
    private func updating(_ index: Int, _ setup: ResidencyScheduleTests.Setup) -> [World] {
        let slot = actors[index].slot
        switch actors[index].place {
        case .start, .found, .loading, .restoring: return reading(index, setup, then: { _ in })
        case .reading:
            guard slot == current else {
                return [
                    with { world in
                        world.slots[slot].readers -= 1
                        world.unpin(slot)
                        world.actors[index].place = .start
                    }
                ]
            }
            if let upgraded = applying(slot, { $0.upgrading() }) {
                return [
                    upgraded.with { world in
                        world.slots[slot].readers -= 1
                        world.take(slot)
                        world.actors[index].place = .mutating
                    }
                ]
            }
            return [putting(index, true)]
        case .mutating: return [mutated(index, true)]
        case .retiring: return put(index, true)
        case .opening:
            // The pin is given back last.
            return put(index, true).map { world in
                world.with { world in
                    world.slots[slot].readers -= 1
                    world.unpin(slot)
                }
            }
        default: return []
        }
    }
}
