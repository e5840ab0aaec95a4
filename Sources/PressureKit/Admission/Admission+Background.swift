import PressureSignals
import PressureSystem
import Synchronization

/// What the background reclaim is to do, and what it has done.
extension Admission {
    /// What the background reclaim is to do now.
    package struct BackgroundWish: Hashable, Sendable {
        /// How many bytes to free.
        package var bytes: Int
        /// Whether it is wanted at once: somebody waits for it, or less is left than half of what a batch is made in time for. A
        /// cache that is full and read needs it some milliseconds later.
        package var isUrgent: Bool
        /// Whether to give the free part of the heap back to the system.
        package var givesHeapBack: Bool
        /// Whether what leaves is to leave whole pages, for the heap to be given back after it: more of the room is free heap than others
        /// could wait for.
        package var emptiesRegions: Bool
        /// The sample it goes by.
        package var room: AdmissionRoom
    }

    /// What the background reclaim is to do now, by the newest sample; `nil` for nothing, or while it rests.
    package func backgroundWish() -> BackgroundWish? { supply.flatMap(backgroundWish) }

    func backgroundWish(_ supply: Supply) -> BackgroundWish? {
        guard let room = supply.room() else { return nil }
        let (now, reading) = (clock.now(), reading(in: room, supply, isWaitedFor: false))
        let ledger = state.ledger
        let need = ledger.need(in: room, reading)
        let part = supply.neighbours?.part(of: need, at: room.place, underWay: ledger.underWay, at: now)
        if let part, part < need { supply.neighbours?.notify(at: room.place, need: need, at: now) }
        // What has come meanwhile may leave. While others take memory, little of it is worth a look.
        let worthALook = room.isTaken ? min(room.high, AdmissionRoom.leastGivenBack) : room.high
        let isResting = state.restsUntil.isAhead(of: now) && books.reading.brought - state.broughtAtRest < worthALook
        var bytes = isResting ? 0 : ledger.backgroundGoal(in: room, reading, part: part)
        if bytes > 0, room.isTaken { bytes += room.takenMeanwhile }
        let isNews = state.heapGivenBackAt.instant.map { $0 < room.takenAt } ?? true
        let mayGiveBack = isNews && (room.needsHeapBack || !state.heapRestsUntil.isAhead(of: now))
        let givesHeapBack = mayGiveBack && (room.wantsHeapBack || bytes > 0 && room.hasSurplus)
        guard bytes > 0 || givesHeapBack else { return nil }
        let isUrgent = room.isTaken || ledger.isUrgent(in: room, reading)
        return BackgroundWish(
            bytes: bytes,
            isUrgent: isUrgent,
            givesHeapBack: givesHeapBack,
            emptiesRegions: bytes > 0 && room.isThin && (room.isPressing || mayGiveBack),
            room: room
        )
    }

    /// What memory there was at the newest sample; `nil` while nobody watches.
    var room: AdmissionRoom? { supply?.room() }

    /// Whether loads wait for more than so many bytes.
    package func isAwaited(beyond bytes: Int) -> Bool { state.ledger.waiting > bytes }

    /// Whether others take memory and have begun on the least that is to stay free.
    package func isPressed() -> Bool { room?.isShrinking ?? false }

    /// Whether the system has all that is to be free.
    package func isRelieved() -> Bool { room?.isRelieved ?? false }

    /// The heap was given back, which took so long, and whoever allocated meanwhile waited. It is fifty times as long until
    /// it may be again, unless it must, by a newer sample.
    package func noteHeapGivenBack(in duration: Duration) {
        let end = clock.now()
        state.heapRestsUntil.set(end + duration * 50)
        state.heapGivenBackAt.set(end)
    }

    /// Has a new sample taken. Waits some milliseconds at most.
    package func refresh() { _ = supply?.refresh() }

    /// The background reclaim has made a batch. If it has found next to nothing that may leave, it looks again when
    /// something may have changed.
    package func note(batch bytes: Int, isExhausted: Bool) {
        state.count(batch: bytes)
        if isExhausted { state.rest(until: clock.now() + Self.pause, brought: books.reading.brought) }
        books.wake()
    }

    /// There is a new sample: has the background reclaim begin, if less is left than the low watermark.
    ///
    /// - Parameter wantsVisit: Whether it is to come in any case, for the heap.
    package func keepWatermarks(wantsVisit: Bool = false) {
        credit.store(0, ordering: .relaxed)
        guard let supply else { return }
        // Somebody may have come who knows nothing of what was let in while this process was alone.
        if told.load(ordering: .relaxed) == 0, state.ledger.underWay > 0 { tell() }
        keepWatermarks(supply, wantsVisit: wantsVisit)
    }

    func keepWatermarks(_ supply: Supply, wantsVisit: Bool = false) {
        let wish = backgroundWish(supply)
        if wish != nil || wantsVisit { supply.wakeBackground(wish?.isUrgent ?? false) }
    }
}
