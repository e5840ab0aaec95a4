#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit

/// One slot's storage, as the word is to guard it.
struct ModelSlot: Hashable {
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
enum Place: Hashable {
    case start, found, asleep, done
    case loading, restoring, reading
    case copied, clean, releasing, moving, holding
    case mutating, retiring, opening(empties: Bool)
}

struct ModelActor: Hashable {
    var kind: ResidencyScheduleTests.Actor
    var place = Place.start
    var slot = 0
    var rounds = 2
}

/// All there is at one moment.
struct ScheduleWorld: Hashable {
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
    func stepping(_ index: Int, _ setup: ResidencyScheduleTests.Setup) -> [ScheduleWorld] {
        guard fault == nil else { return [] }
        switch actors[index].kind {
        case .reader, .secondReader: return reading(index, setup, then: { $0.finish(index) })
        case .evictor, .dropper, .compressor, .copier: return evicting(index)
        case .mover: return moving(index)
        case .saver: return saving(index, setup)
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

    func with(_ change: (inout ScheduleWorld) -> Void) -> ScheduleWorld {
        var world = self
        change(&world)
        return world
    }

    /// Applies a step of the word; `nil` if it is not legal.
    func applying(_ slot: Int, _ step: (ResidencyWord) -> ResidencyWord?) -> ScheduleWorld? {
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

    mutating func finish(_ index: Int) {
        actors[index].rounds -= 1
        actors[index].place = actors[index].rounds > 0 ? .start : .done
    }

    /// Finds the slot that is current now. Before the next step anything may happen: it may be replaced, even reused.
    mutating func find(_ index: Int) {
        actors[index].slot = current
        actors[index].place = .found
    }

    mutating func take(_ slot: Int) {
        if slots[slot].isOwned { fault = "two own slot \(slot)" }
        if slots[slot].readers > 0 { fault = "slot \(slot) was taken from under a reader" }
        slots[slot].isOwned = true
    }

    mutating func unpin(_ slot: Int) {
        slots[slot].word.rawValue -= 1
        recycleIfAbandoned(slot)
    }

    mutating func recycleIfAbandoned(_ slot: Int) {
        guard slots[slot].word.isAbandoned else { return }
        empty(slot)
    }

    mutating func empty(_ slot: Int) {
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
}
#endif
