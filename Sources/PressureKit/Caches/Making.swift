import PressureSystem

/// A value that a task of its own brings into memory, and how many wait for it.
///
/// The task may use the slot for as long as the making is not over. Either the task ends it, when there is a value or an
/// error, or the last one who waits does, when it leaves: whoever is first. So a loader that goes on although nobody
/// waits for it any more keeps nobody from loading anew in the same slot.
final class Making: Sendable {
    /// What came of it.
    enum Ending: Sendable {
        /// The value is in its slot, pinned once until the last waiter has left.
        case landed
        case failed(any Error)
        /// The copy could not be read, and the one who began it had no use for the loader.
        case unread(any Error)
        /// Another value has taken the slot's place.
        case replaced
    }

    /// What the one who leaves is to do.
    enum Duty {
        case none
        /// Give back the pin of a value that has landed.
        case unpin
        /// End the load, since nobody waits for it.
        case abandon
    }

    private struct State {
        /// Whether a loader runs. A restore that has begun is not given up: a thread reads the copy.
        var isLoading: Bool
        var isOver = false
        var ending: Ending?
        var waiting = 1
        var priority: TaskPriority
        var task: Task<Void, Never>?
    }

    private let state: Lock<State>

    /// How those who wait for each other find it, and what its loader asks for.
    let load: Load

    /// One that a reader has begun, who waits for it.
    init(_ load: Load, isLoading: Bool, priority: TaskPriority) {
        self.load = load
        state = Lock(State(isLoading: isLoading, priority: priority))
    }

    // MARK: For those who wait

    /// One more waits; `false` when it is over.
    func join() -> Bool {
        state.withLock { state in
            if !state.isOver { state.waiting += 1 }
            return !state.isOver
        }
    }

    /// One leaves, for whatever reason.
    func leave() -> Duty {
        state.withLock { state in
            state.waiting -= 1
            guard state.waiting == 0 else { return .none }
            if case .landed? = state.ending { return .unpin }
            guard state.isLoading, !state.isOver else { return .none }
            state.isOver = true
            return .abandon
        }
    }

    /// What came of it; `nil` while it goes on, or when it was abandoned.
    var ending: Ending? { state.withLock { $0.ending } }

    /// Whether it is over, and what came of it will be known in a few instructions.
    var isEnding: Bool { state.withLock { $0.isOver && $0.ending == nil } }

    /// Its task is to be as urgent as whoever waits for it.
    func escalate(to priority: TaskPriority) {
        let task = state.withLock { state in
            guard priority > state.priority else { return nil as Task<Void, Never>? }
            state.priority = priority
            return state.task
        }
        task?.escalatePriority(to: priority)
    }

    // MARK: For its task

    /// Begins the task. Called once, by the reader who has begun the making.
    func start(_ work: @escaping @Sendable () async -> Void) {
        let priority = state.withLock { $0.priority }
        let task = Task(priority: priority) { [load] in
            await load.run(work)
        }
        let wanted = state.withLock { state in
            if state.ending == nil { state.task = task }
            return state.priority
        }
        if wanted > priority { task.escalatePriority(to: wanted) }
    }

    /// Cancels the task, after it was abandoned.
    func cancel() { state.withLock { $0.task }?.cancel() }

    /// Whether it is to be loaded; the copy is read otherwise.
    var isLoading: Bool { state.withLock { $0.isLoading } }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiting } }

    /// The copy could not be read, and the loader is to run; `false`, and over, when nobody waits for that.
    func beginLoading() -> Bool {
        state.withLock { state in
            state.isLoading = true
            state.isOver = state.waiting == 0
            return !state.isOver
        }
    }

    /// The task ends it, and the slot is its own; `false` when it was abandoned, and the slot is not.
    func claim() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.isOver = true
            return true
        }
    }

    /// Says what came of it. Returns whether anybody waits.
    @discardableResult
    func end(_ ending: Ending) -> Bool {
        state.withLock { state in
            state.ending = ending
            state.task = nil
            return state.waiting > 0
        }
    }
}
