import PressureSystem

/// What this process has to say of itself to those who share a limit with it.
struct OwnMemory: Sendable {
    let books: MemoryBooks
    let process: ProcessMemory

    /// What its caches hold now.
    ///
    /// - Parameter underWay: Bytes that it is bringing in, where they count as held.
    func member(underWay: Int = 0) -> ShortageShares.Member {
        let held = max(0, books.reading.resident)
        return member(held: held, reclaimable: process.reclaimable(), underWay: underWay)
    }

    /// All that is said, as of now.
    func said(underWay: Int) -> Board.Own {
        said(member(), heap: process.heap().reclaimable, resident: nil, underWay: underWay)
    }

    /// All that is said, as of a sample.
    func said(reclaimable: Int, held: Int, heap: Int, resident: Int?, underWay: Int) -> Board.Own {
        said(member(held: held, reclaimable: reclaimable), heap: heap, resident: resident, underWay: underWay)
    }

    private func said(_ member: ShortageShares.Member, heap: Int, resident: Int?, underWay: Int) -> Board.Own {
        Board.Own(
            member: member,
            books: books.reading,
            awaited: Int(clamping: books.awaited.nanoseconds),
            resident: resident,
            underWay: underWay,
            heap: heap
        )
    }

    private func member(held: Int, reclaimable: Int, underWay: Int = 0) -> ShortageShares.Member {
        let free = min(reclaimable, held)
        let dirty = max(0, min(process.dirty(), held - free))
        return ShortageShares.Member(held: held + underWay, free: free, dirty: dirty)
    }
}
