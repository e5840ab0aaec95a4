#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit

/// Writers.
extension ScheduleWorld {
    /// `set` and `invalidate`: in place if nobody holds the value, else another slot.
    func replacing(_ index: Int) -> [ScheduleWorld] {
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

    func mutated(_ index: Int, _ hasValue: Bool) -> ScheduleWorld {
        let slot = actors[index].slot
        return applying(slot, { $0.finishingMutation(hasValue: hasValue, stamp: 0) })!.with { world in
            world.slots[slot].isOwned = false
            world.write(hasValue, in: slot)
            world.finish(index)
        }
    }

    mutating func write(_ hasValue: Bool, in slot: Int) {
        newest += hasValue ? 1 : 0
        isGone = !hasValue
        slots[slot].value = hasValue ? newest : nil
        slots[slot].copy = nil
    }

    /// A fresh slot, owned by the writer, becomes the one that readers find.
    func putting(_ index: Int, _ hasValue: Bool) -> ScheduleWorld {
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

    func put(_ index: Int, _ hasValue: Bool) -> [ScheduleWorld] {
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
    func updating(_ index: Int, _ setup: ResidencyScheduleTests.Setup) -> [ScheduleWorld] {
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
#endif
