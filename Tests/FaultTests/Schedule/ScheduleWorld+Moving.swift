#if !THREAD_SANITIZER  // One thread at a time.
import PressureKit

/// Reclaims, the cleaner, and who saves the state.
extension ScheduleWorld {
    /// A reclaim: lists the slot, copies, releases; or drops.
    func evicting(_ index: Int) -> [ScheduleWorld] {
        let slot = actors[index].slot
        switch actors[index].place {
        case .start:
            return [with { $0.find(index) }]
        case .found where actors[index].kind != .copier && (actors[index].kind == .dropper || slots[slot].word.isClean):
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
                applying(slot) {
                    $0.finishingCopy(
                        succeeded: succeeded,
                        as: actors[index].kind == .compressor ? .compressed : .settled
                    )
                }!.with { world in
                    if world.slots[slot].value != world.slots[slot].draft {
                        world.fault = "changed while it was copied"
                    }
                    world.slots[slot].copy = succeeded ? world.slots[slot].draft : nil
                    world.slots[slot].draft = nil
                    world.recycleIfAbandoned(slot)
                    let releases = succeeded && world.actors[index].kind != .copier
                    if releases { world.actors[index].place = .clean } else { world.finish(index) }
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

    /// The calm worker writes the copy of a value that is out of memory anew; as a restore, but that nobody gets a value.
    func moving(_ index: Int) -> [ScheduleWorld] {
        let slot = actors[index].slot
        switch actors[index].place {
        case .start: return [with { $0.find(index) }]
        case .found:
            guard let begun = applying(slot, { $0.beginningRestore() }) else { return [with { $0.finish(index) }] }
            return [
                begun.with {
                    $0.take(slot); $0.actors[index].place = .moving
                }
            ]
        case .moving:
            // It succeeds, to the disk or to a server, or the old copy stays.
            return [.settled, .remote, slots[slot].word.copyKind].map { kind in
                let ended = applying(slot) { $0.finishingMove(to: kind) }
                return (ended ?? with { $0.unpin(slot) }).with { world in
                    world.slots[slot].isOwned = false
                    if ended != nil, world.slots[slot].copy == nil { world.fault = "moved a copy that is not there" }
                    world.finish(index)
                }
            }
        default: return []
        }
    }

    /// Who saves the state: reads what is in memory, holds what is not as a restore does, and leaves it as it was.
    func saving(_ index: Int, _ setup: ResidencyScheduleTests.Setup) -> [ScheduleWorld] {
        let slot = actors[index].slot
        switch actors[index].place {
        case .start, .reading: return reading(index, setup, then: { $0.finish(index) })
        case .found:
            if let pinned = applying(slot, { $0.pinning(stamp: 0) }) { return [pinned.with { $0.look(index, slot) }] }
            if let begun = applying(slot, { $0.beginningRestore() }) {
                return [
                    begun.with {
                        $0.take(slot); $0.actors[index].place = .holding
                    }
                ]
            }
            let isNothing = [.unloaded, .loading].contains(slots[slot].word.phase)
            return [with { world in if isNothing { world.finish(index) } else { world.actors[index].place = .start } }]
        case .holding:
            let ended = applying(slot) { $0.failingRestore() }
            return [
                (ended ?? with { $0.unpin(slot) }).with { world in
                    world.slots[slot].isOwned = false
                    if ended != nil, world.slots[slot].copy != world.newest {
                        world.fault = "saved what is out of date"
                    }
                    world.finish(index)
                }
            ]
        default: return []
        }
    }
}
#endif
