import PressureSystem

/// The one thread on which memory is reclaimed and the hooks of a relief are called.
///
/// Sleeps until there is a request; ends when the manager is gone, after the relief it is at.
final class ReliefThread: Sendable {
    private struct State {
        var queue = ReliefQueue()
        /// Also after its target was reached, while the report is told.
        var isRunning = false
        var isStopped = false
        var isEnded = false
    }

    private let state: ConditionLock<State>

    /// Starts the thread.
    ///
    /// - Throws: ``PressureError`` with `threadUnavailable`.
    init(context: ManagerContext, root: PressureController) throws(PressureError) {
        let state = ConditionLock(State())
        self.state = state
        let relief = Relief(context: context, root: root)
        try WorkerThread.spawn("pk-relief") {
            Admission.exemptThisThread()
            Self.work(state, relief)
        }
    }

    deinit { stop() }

    /// Asks for memory. Does not block. The reply comes on the relief thread; here and now, with nothing freed, if the
    /// thread has been stopped.
    func request(_ request: ReliefRequest) {
        let isAccepted = state.withLock { state in
            if state.isStopped { return false }
            state.queue.add(request)
            return true
        }
        guard !isAccepted else { return }
        var report: EvictionReport? = EvictionReport(cause: request.cause)
        request.reply?(&report)
    }

    /// Whether a relief is wanted or running.
    var isActive: Bool { state.withLock { $0.queue.isActive || $0.isRunning } }

    /// How many callers wait for the relief that is running.
    var pendingReplies: Int { state.withLock { $0.queue.replyCount } }

    /// Ends the thread after the relief it is at. Does not wait for it.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Waits until the thread has ended. Blocks; never on the relief thread itself.
    func waitUntilEnded() { state.wait { $0.isEnded ? () : nil } }

    /// Waits until no relief is wanted or running. Blocks; returns at once on a thread that a relief itself needs.
    func waitUntilIdle() {
        guard !Admission.isThisThreadExempt else { return }
        state.wait { $0.queue.isActive || $0.isRunning ? nil : () }
    }

    /// Sleeps until there is something to do; `false` when there will be nothing any more.
    private static func waitForWork(_ state: ConditionLock<State>) -> Bool {
        state.wait { state in
            guard state.queue.isActive else { return state.isStopped ? false : nil }
            state.isRunning = true
            return true
        }
    }

    private static func work(_ state: ConditionLock<State>, _ relief: Relief) {
        while waitForWork(state) {
            relief.run { isReached in
                state.withLock { $0.queue.next(isReached: isReached) }
            }
            state.withLock { $0.isRunning = false }
        }
        state.withLock { $0.isEnded = true }
    }
}
