import PressureSignals
import PressureSystem

/// Keeps a full cache between its watermarks: small batches, on the reclaim thread, between one reclaim and the next.
///
/// It is no reclaim to anybody else. No level changes, nobody is warned, no event is delivered but failures; a delegate
/// learns that a value leaves, as when a cache keeps to its own limit.
struct BackgroundReclaim: Sendable {
    let context: ManagerContext
    let root: PressureController

    /// How old the sample may be that a batch goes by; and while others take memory.
    private static let freshness = (usual: Duration.milliseconds(50), hurried: Duration.milliseconds(5))

    /// Frees what is to be freed now, and what comes to that meanwhile, until `isInterrupted`. Returns the bytes.
    ///
    /// - Parameter priority: The calling thread's.
    func run(with priority: ThreadPriority, isInterrupted: () -> Bool) -> Int {
        let engine = context.engine
        var freed = 0
        var fruitless = 0
        while !isInterrupted(), let wish = newWish() {
            // What others take is theirs before a copy is written. If it is gone, all there is is worth a look, and nothing
            // takes its place.
            let isShrinking = wish.room.isShrinking
            let values = context.books.reading
            let beside = wish.emptiesRegions && fruitless == 0 ? engine.leavingBeside(for: wish.bytes, of: values) : nil
            // Once for both then, after the batch: it takes as long for little as for much.
            let isTogether = isShrinking ? fruitless == 0 && wish.bytes > wish.room.heap : beside != nil
            if wish.givesHeapBack, !isTogether {
                giveHeapBack(in: wish.room, priority)
                continue
            }
            guard wish.bytes > 0 else { break }
            priority.set(isUrgent: wish.isUrgent)
            let goal = isShrinking ? engine.leaving(for: wish.bytes, of: values) : wish.bytes
            let admission = context.admission
            let isAwaited = { admission.isAwaited(beyond: wish.room.high) }
            let batch = ReclaimBatch(
                goal: goal,
                beside: beside,
                isWhole: fruitless > 0 || isShrinking && !engine.suffices(partFor: goal, of: values),
                isTrade: !wish.room.isTaken,
                isAside: engine.writesAside(values, in: wish.room),
                isUrgent: wish.isUrgent,
                isHurried: admission.isPressed,
                isAwaited: isAwaited,
                isOver: isShrinking ? { admission.isRelieved() } : nil,
                room: wish.room
            )
            let gained = telling { engine.reclaim(batch, root: root, priority: priority) }
            freed += gained
            // One that was cut short, because others began to take memory, says nothing of what there is.
            let isCutShort = !wish.room.isTaken && admission.isPressed()
            fruitless = gained * 4 < wish.bytes && !isCutShort ? fruitless + 1 : 0
            // What values leave in the heap is of no use to others, nor to loads on threads that have another heap, and the books take
            // it for returned.
            let isForSystem = isShrinking || beside != nil || isAwaited()
            if isForSystem, engine.heap.isWorthGivingBack(in: wish.room) { giveHeapBack(in: wish.room, priority) }
            admission.note(batch: gained, isExhausted: fruitless > 1)
        }
        if !isInterrupted(), engine.heap.isIdle, let room = context.admission.room { giveHeapBack(in: room, priority) }
        return freed
    }

    /// Whoever allocates meanwhile waits for it: it is not to wait for a processor itself.
    private func giveHeapBack(in room: AdmissionRoom, _ priority: ThreadPriority) {
        priority.set(isUrgent: true)
        let start = context.clock.now()
        context.engine.heap.giveBack(beside: room)
        let duration = context.clock.now() - start
        context.admission.refresh()
        context.admission.noteHeapGivenBack(in: duration)
    }

    /// Has hooks called on the listener's thread, as in a reclaim, and waits for them as long as a critical one does: one
    /// may come meanwhile.
    private func telling(_ batch: () -> Int) -> Int {
        let listener = context.listener
        listener.begin()
        listener.hurry(for: .critical)
        let freed = batch()
        listener.flush()
        for slow in listener.end() { context.log.unheard(slow) }
        return freed
    }

    private func newWish() -> Admission.BackgroundWish? {
        // The room counts it.
        let isNew = context.engine.heap.look { context.books.reading }
        if isNew { context.admission.refresh() }
        guard let wish = context.admission.backgroundWish() else { return nil }
        let limit = wish.room.isTaken ? Self.freshness.hurried : Self.freshness.usual
        guard context.clock.now() - wish.room.takenAt > limit else { return wish }
        context.admission.refresh()
        return context.admission.backgroundWish()
    }
}
