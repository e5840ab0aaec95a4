import Synchronization

extension PlanStorage {
    /// Has the readers of all these victims counted, with two fences for all; each alone would need as many when it is
    /// released. Allocates nothing.
    func revokeBias(ofVictims victims: Range<Int>) {
        unsafe withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer.self, capacity: victims.count) { slots in
            unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: victims.count) { owners in
                var count = 0
                for victim in victims {
                    let slot = unsafe place(ofVictim: victim).slot
                    // A slot begins with its header, and is there as long as its entry, which is retained here.
                    let header = unsafe slot.assumingMemoryBound(to: SlotHeader.self)
                    guard unsafe header.pointee.apply({ $0.revokingBias() }) != nil else { continue }
                    unsafe slots[count] = slot
                    unsafe owners[count] = victim
                    count += 1
                }
                guard count > 0 else { return }
                guard unsafe HazardScan.count(readersOf: UnsafeBufferPointer(rebasing: slots[..<count])) else { return }
                for index in 0..<count {
                    // Retained by the storage.
                    let entry = unsafe place(ofVictim: owners[index]).entry.takeUnretainedValue()
                    unsafe entry.giveBack(slots[index])
                }
            }
        }
    }
}
