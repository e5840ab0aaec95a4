import CLinuxShims
import PressureSystem
import Synchronization

/// How whoever takes values away finds those who read them by hazard pointer, and has them counted.
///
/// The caller has taken the bias from each word and put a pin of its own on the slot. Then, with readers going on:
///
/// 1. All threads run a fence (membarrier(2)). A reader has either published the slot before, and is found, or looks at
///    the word after, finds it biased no more, and backs off.
/// 2. For each place that names a slot, the slot gets one pin more, and the place a claim.
/// 3. All threads run another fence. A reader who leaves after it finds the claim, takes it, and gives the pin back.
/// 4. Where a place does not name the slot any longer and the claim is still there, the reader left before that: the
///    scan takes the claim. Whoever takes it, reader or scan, gives the pin back.
///
/// From then on the word's pins are all there are: as before, but for the readers, who have written nothing shared. One
/// scan at a time, so that no claim of another is half made.
package enum HazardScan {
    private enum Support: UInt8, AtomicRepresentable {
        case unknown, works, missing, refused
    }

    private static let support = Atomic(Support.unknown)

    /// Whether the kernel has what it takes. What it has refused once is not asked for again.
    static var isPossible: Bool {
        switch support.load(ordering: .relaxed) {
        case .unknown: fence()
        case .works: true
        case .missing, .refused: false
        }
    }

    /// Whether it never had: then nobody reads by hazard pointer, and nobody ever will.
    static var isImpossible: Bool { support.load(ordering: .relaxed) == .missing }

    /// Has every thread run a fence. `false` when the kernel refuses.
    static func fence() -> Bool {
        let known = support.load(ordering: .relaxed)
        guard known == .unknown || known == .works else { return false }
        let works = pk_fence_all_threads()
        if works, known == .works { return true }
        support.store(works ? .works : known == .works ? .refused : .missing, ordering: .relaxed)
        return works
    }

    private static let turn = Lock(())

    /// Counts the readers of slots, each biased no more and with a pin of the caller's, which it may give back then.
    /// Allocates nothing, and runs no code of the app's.
    ///
    /// - Returns: `false` when the kernel refuses the fence, or there are more readers than pins: then the slots are to keep
    ///   the caller's pins, since nobody can know who reads.
    static func count(readersOf slots: UnsafeBufferPointer<UnsafeMutableRawPointer>) -> Bool {
        guard fence() else { return false }
        return turn.withLock { _ in
            let claims = unsafe claim(slots)
            // Without the second fence a claim may stay, and its pin with it: a value too many in memory, none too few.
            if claims.isAny, fence() { unsafe settle(slots) }
            return claims.isComplete
        }
    }

    /// Whether a reader has published an address, and may look at what is there. Whoever asks has put something else in its
    /// place and run ``fence()`` since.
    static func isPublished(_ address: UInt) -> Bool {
        var isFound = false
        HazardRecord.forEach { record in
            for place in 0..<HazardRecord.placeCount where record.address(in: place) == address { isFound = true }
        }
        return isFound
    }

    /// Step 2. Returns whether there is a new claim, and whether there was a pin for each reader.
    private static func claim(
        _ slots: UnsafeBufferPointer<UnsafeMutableRawPointer>
    ) -> (isAny: Bool, isComplete: Bool) {
        var isAny = false
        var isComplete = true
        HazardRecord.forEach { record in
            for place in 0..<HazardRecord.placeCount {
                let address = record.address(in: place)
                guard address != 0, let slot = unsafe slot(at: address, of: slots) else { continue }
                let before = record.claim(on: place)
                // Of a read that went on while the value was biased again: counted already.
                guard before != address else { continue }
                guard unsafe slot.assumingMemoryBound(to: SlotHeader.self).pointee.state.hasRoom else {
                    isComplete = false
                    continue
                }
                unsafe slot.assumingMemoryBound(to: SlotHeader.self).pointee.word.wrappingAdd(
                    1,
                    ordering: .acquiringAndReleasing
                )
                // A claim that no fence settled keeps its place: then this pin stays for ever, too.
                guard before == 0 else { continue }
                record.setClaim(address, on: place)
                isAny = true
            }
        }
        return (isAny, isComplete)
    }

    /// Step 4.
    private static func settle(_ slots: UnsafeBufferPointer<UnsafeMutableRawPointer>) {
        HazardRecord.forEach { record in
            for place in 0..<HazardRecord.placeCount {
                let address = record.claim(on: place)
                guard address != 0, let slot = unsafe slot(at: address, of: slots) else { continue }
                guard record.address(in: place) != address, record.takeClaim(place, address) else { continue }
                // Not the last one: the caller has its own.
                unsafe slot.assumingMemoryBound(to: SlotHeader.self).pointee.word.wrappingSubtract(
                    1,
                    ordering: .acquiringAndReleasing
                )
            }
        }
    }

    private static func slot(
        at address: UInt,
        of slots: UnsafeBufferPointer<UnsafeMutableRawPointer>
    ) -> UnsafeMutableRawPointer? {
        for index in slots.indices where unsafe UInt(bitPattern: slots[index]) == address {
            return unsafe slots[index]
        }
        return nil
    }

    /// The slots of reads under way that no word counts, as of a moment ago: one for each read.
    static var uncounted: [UInt] {
        var addresses: [UInt] = []
        HazardRecord.forEach { record in
            for place in 0..<HazardRecord.placeCount where record.claim(on: place) == 0 {
                let address = record.address(in: place)
                if address != 0 { addresses.append(address) }
            }
        }
        return addresses
    }
}
