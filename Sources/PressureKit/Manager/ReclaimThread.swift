import PressureSystem
import Synchronization

/// The one thread on which memory is reclaimed and the hooks of a reclaim are called.
///
/// Sleeps until there is a request; ends when the manager is gone, after the reclaim it is at.
final class ReclaimThread: Sendable {
    private struct State {
        var queue = ReclaimQueue()
        /// Who waits for what the background reclaim frees.
        var roomReplies: [@Sendable (ByteCount) -> Void] = []
        /// Whether a reclaim that somebody has asked for is being carried out, or told.
        var isReclaiming = false
        /// Also after its target was reached, while the report is told.
        var isRunning = false
        var isStopped = false
        var isEnded = false
    }

    /// What the thread knows, without keeping this alive. What is asked with every load or sample takes no lock: a reader who
    /// holds it and gets no processor would keep memory from being freed.
    private final class Board: Sendable {
        private let state = Lock(State())
        private let changes = EventCount()
        /// The background reclaim is to look what there is to free.
        let wantsRoom = Atomic<Bool>(false)
        let isActive = Atomic<Bool>(false)
        /// Whether a background reclaim is to end.
        let interrupts = Atomic<Bool>(false)
        /// The thread's; none before it runs.
        let priority = AtomicReference<ThreadPriority>()

        /// Changes the state, and has all who wait look.
        func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
            let result = state.withLock { state in
                let result = body(&state)
                isActive.store(state.queue.isActive || state.isReclaiming, ordering: .relaxed)
                interrupts.store(state.queue.isActive || state.isStopped, ordering: .relaxed)
                return result
            }
            changes.notify()
            return result
        }

        func read<Result: Sendable>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }

        /// Has the background reclaim look, unless it is to already.
        func wantRoom() { if !wantsRoom.exchange(true, ordering: .sequentiallyConsistent) { changes.notify() } }

        func wait<Result>(_ condition: () -> Result?) -> Result {
            while true {
                if let result = changes.wait(atMost: .seconds(3600), until: condition) { return result }
            }
        }
    }

    private let board: Board
    private let pool: CopyPool

    /// Starts the thread.
    ///
    /// - Throws: ``PressureError`` with `threadUnavailable`.
    init(context: ManagerContext, root: PressureController) throws(PressureError) {
        let board = Board()
        self.board = board
        pool = context.engine.pool
        let reclaim = Reclaim(context: context, root: root)
        let background = BackgroundReclaim(context: context, root: root)
        try WorkerThread.spawn("pk-reclaim") {
            Admission.exemptThisThread()
            let priority = ThreadPriority()
            priority.set(isUrgent: true)
            board.priority.store(priority)
            Self.work(board, reclaim, background, priority)
        }
    }

    deinit { stop() }

    /// Asks for memory. Does not block. The reply comes on the reclaim thread; here and now, with nothing freed, if the
    /// thread has been stopped.
    func request(_ request: ReclaimRequest) {
        let isAccepted = board.change { state in
            if state.isStopped { return false }
            state.queue.add(request)
            return true
        }
        // A batch that is under way may be in no hurry.
        guard !isAccepted else { return raise() }
        var report: EvictionReport? = EvictionReport(cause: request.cause)
        request.reply?(&report)
    }

    /// Has the background reclaim look whether there is something to free. Does not block.
    ///
    /// - Parameter isUrgent: Whether somebody waits for it, or soon will: a batch that was begun in no hurry is in one now.
    func makeRoom(isUrgent: Bool) {
        board.wantRoom()
        if isUrgent { raise() }
    }

    /// Also whoever writes for it.
    private func raise() {
        board.priority.object?.set(isUrgent: true)
        pool.hurry()
    }

    /// The same, for somebody who waits.
    ///
    /// - Parameter done: Called once, on the reclaim thread, with what it has freed; here and now if the thread has been
    ///   stopped.
    func makeRoom(_ done: @escaping @Sendable (ByteCount) -> Void) {
        let isAccepted = board.change { state in
            if state.isStopped { return false }
            state.roomReplies.append(done)
            return true
        }
        if isAccepted { makeRoom(isUrgent: true) } else { done(.zero) }
    }

    /// Whether a reclaim that somebody has asked for is wanted or running. Takes no lock.
    var isActive: Bool { board.isActive.load(ordering: .relaxed) }

    /// How many callers wait for the reclaim that is running.
    var pendingReplies: Int { board.read { $0.queue.replyCount } }

    /// Ends the thread after the reclaim it is at. Does not wait for it.
    func stop() { board.change { $0.isStopped = true } }

    /// Waits until the thread has ended. Blocks; never on the reclaim thread itself.
    func waitUntilEnded() { board.wait { board.read { $0.isEnded ? () : nil } } }

    /// Waits until no reclaim is wanted or running, in the background either. Blocks; returns at once on a thread that a
    /// reclaim itself needs.
    func waitUntilIdle() {
        guard !Admission.isThisThreadExempt else { return }
        board.wait {
            board.read { state in
                let isBusy =
                    state.queue.isActive || board.wantsRoom.load(ordering: .sequentiallyConsistent) || state.isRunning
                return isBusy && !state.isEnded ? nil : ()
            }
        }
    }

    private enum Work { case reclaim, background, none }

    /// Sleeps until there is something to do.
    private static func waitForWork(_ board: Board) -> Work {
        board.wait { () -> Work? in
            let isCalled = board.read { $0.queue.isActive || $0.isStopped }
            guard isCalled || board.wantsRoom.load(ordering: .sequentiallyConsistent) else { return nil }
            return board.change { state in
                if state.queue.isActive {
                    state.isRunning = true
                    state.isReclaiming = true
                    return .reclaim
                }
                if state.isStopped { return Work.none }
                // Nobody else takes it back.
                state.isRunning = true
                board.wantsRoom.store(false, ordering: .sequentiallyConsistent)
                return .background
            }
        }
    }

    private static func work(
        _ board: Board,
        _ reclaim: Reclaim,
        _ background: BackgroundReclaim,
        _ priority: ThreadPriority
    ) {
        loop: while true {
            switch waitForWork(board) {
            case .none: break loop
            case .reclaim:
                priority.set(isUrgent: true)
                reclaim.run { isReached in board.change { $0.queue.next(isReached: isReached) } }
            case .background:
                let freed = background.run(with: priority) { board.interrupts.load(ordering: .relaxed) }
                reply(board, ByteCount(bytes: freed), background.context.books)
            }
            board.change { state in
                state.isRunning = false
                state.isReclaiming = false
            }
        }
        reply(board, .zero, background.context.books)
        board.change { $0.isEnded = true }
    }

    /// Answers all who wait for what the background reclaim frees, and has them look.
    private static func reply(_ board: Board, _ freed: ByteCount, _ books: MemoryBooks) {
        guard board.read({ !$0.roomReplies.isEmpty }) else { return }
        let replies = board.change { state in
            defer { state.roomReplies = [] }
            return state.roomReplies
        }
        for reply in replies { reply(freed) }
        books.wake()
    }
}
