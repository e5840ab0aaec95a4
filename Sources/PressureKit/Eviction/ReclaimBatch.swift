import PressureSignals

/// What a batch is to free, and for whom.
struct ReclaimBatch {
    /// About how many bytes are to be freed of what is not in use.
    var goal: Int
    /// How many bytes will do of values that lie beside each other, if they say where they lie; `nil` for leaving by rank alone.
    var beside: Int?
    /// Whether to choose among all values; among a part of them otherwise, if there are many and the goal is small.
    var isWhole = true
    /// Whether other values will take the place of those that leave: their pages are kept, and it is no hurry. Others take the memory
    /// otherwise.
    var isTrade = true
    /// Whether another thread writes then.
    var isAside = true
    /// Whether somebody waits for it, or soon will.
    var isUrgent = true
    /// Whether they do by now: then what has not been copied is not, and stays.
    var isHurried: () -> Bool = { false }
    /// Whether loads wait for so much that the heap is to be given back in between.
    var isAwaited: (() -> Bool)?
    /// Whether others have got enough, before the goal; `nil` if none of it is for them.
    var isOver: (() -> Bool)?
    /// What memory there was; `nil` while nobody watches.
    var room: AdmissionRoom?
}

extension ReclaimEngine.Progress {
    /// That of a batch which is about to begin.
    init(_ storage: PlanStorage, to target: SpillTarget, of batch: ReclaimBatch, priority: ThreadPriority?) {
        self.init(storage, to: target, residentBefore: 0)
        if batch.isTrade { (isHurried, isAside) = (batch.isHurried, batch.isAside) }
        (isAwaited, isOver) = (batch.isAwaited, batch.isOver)
        isUrgent = batch.isUrgent
        if !isUrgent { self.priority = priority }
        (room, goal) = (batch.room, batch.goal)
    }
}
