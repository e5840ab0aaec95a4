#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit

/// Readers, and what all do that make the value.
extension ScheduleWorld {
    /// A reader: pins, or makes the value, or sleeps. Looks at the value in a step of its own.
    func reading(
        _ index: Int,
        _ setup: ResidencyScheduleTests.Setup,
        then: (inout ScheduleWorld) -> Void
    ) -> [ScheduleWorld] {
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

    mutating func look(_ index: Int, _ slot: Int) {
        actors[index].place = .reading
        slots[slot].readers += 1
        if slots[slot].isOwned { fault = "a reader got in beside the owner of slot \(slot)" }
        if slots[slot].value == nil { fault = "a reader found nothing in slot \(slot)" }
        if slots[slot].value != newest { fault = "a reader came after version \(newest) and did not see it" }
    }

    func loaded(_ index: Int, _ version: Int?) -> ScheduleWorld {
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

    func restored(_ index: Int, _ isReadable: Bool) -> ScheduleWorld {
        let slot = actors[index].slot
        if isReadable {
            guard let done = applying(slot, { $0.finishingRestore(stamp: 0) }) else { return superseded(index) }
            return done.with { world in
                world.slots[slot].isOwned = false
                if world.slots[slot].copy == nil { world.fault = "restored without a copy" }
                world.slots[slot].value = world.slots[slot].copy
                // A copy in memory is let go, and the word says that there is none.
                if slots[slot].word.copyKind == .compressed { world.slots[slot].copy = nil }
                if world.slots[slot].word.isClean != (world.slots[slot].copy != nil) {
                    world.fault = "slot \(slot) forgot whether it has a copy"
                }
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
    func superseded(_ index: Int) -> ScheduleWorld {
        with { world in
            let slot = world.actors[index].slot
            world.slots[slot].isOwned = false
            world.unpin(slot)
            world.actors[index].place = .start
        }
    }
}
#endif
