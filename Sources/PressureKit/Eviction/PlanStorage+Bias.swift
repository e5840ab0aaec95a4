import Synchronization

extension PlanStorage {
    /// Has the readers of the next ``mostSlots`` victims counted, with two fences at most for all; each alone would need as
    /// many when it is released. Allocates nothing.
    func revokeBias(ofVictims victims: Range<Int>) {
        let victims = victims.prefix(unsafe slots.count)
        var count = 0
        for victim in victims {
            let slot = unsafe place(ofVictim: victim).slot
            // A slot begins with its header, and is there as long as its entry, which is retained here.
            let header = unsafe slot.assumingMemoryBound(to: SlotHeader.self)
            guard unsafe header.pointee.apply({ $0.revokingBias() }) != nil else { continue }
            unsafe slots[count] = slot
            count += 1
        }
        guard count > 0 else { return }
        guard unsafe HazardScan.count(readersOf: UnsafeBufferPointer(rebasing: slots[..<count])) else { return }
        var next = 0
        for victim in victims where next < count {
            let place = unsafe place(ofVictim: victim)
            guard unsafe place.slot == slots[next] else { continue }
            // Retained by the storage.
            unsafe place.entry.takeUnretainedValue().giveBack(place.slot)
            next += 1
        }
    }
}
