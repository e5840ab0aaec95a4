import PressureSignals
import PressureSystem
import Synchronization

/// What those who share the limit are told, and what they have.
extension Admission {
    /// Whether others share the nearest limit with this process.
    var isShared: Bool {
        guard let supply, let neighbours = supply.neighbours, let room = supply.room() else { return false }
        return neighbours.sharers(at: room.place) > 1
    }

    /// Tells those who share the limit what is under way, and notes what they have.
    func tell() {
        guard let supply, let room = supply.room() else { return }
        tell(in: room, supply)
    }

    /// The same, for a room that is known.
    func tell(in room: AdmissionRoom, _ supply: Supply) {
        guard let neighbours = supply.neighbours, neighbours.sharers(at: room.place) > 1 else {
            if told.load(ordering: .relaxed) > 0 { forgetOthers() }
            return
        }
        let beside = neighbours.tell(
            underWay: {
                let ledger = state.ledger
                let underWay = ledger.underWay - ledger.waiting
                told.store(max(1, underWay), ordering: .relaxed)
                return underWay
            },
            at: room.place,
            at: clock.now()
        )
        state.beside.store(beside, ordering: .relaxed)
    }

    /// Nobody shares the limit any more.
    private func forgetOthers() {
        told.store(0, ordering: .relaxed)
        state.beside.store(0, ordering: .relaxed)
    }

    /// What has come into memory below a limit and left it: by this process, and by those that share the limit with it.
    ///
    /// - Parameter isWaitedFor: Whether it is for a load, and not for the background reclaim.
    func reading(in room: AdmissionRoom, _ supply: Supply, isWaitedFor: Bool = true) -> MemoryBooks.Reading {
        var reading = books.reading
        if let before = room.others, let neighbours = supply.neighbours {
            let change = neighbours.change(at: room.place, since: before, isWaitedFor: isWaitedFor, at: clock.now())
            reading.brought += change.brought
            reading.returned += change.returned
        }
        return reading
    }
}
