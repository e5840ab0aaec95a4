import PressureSystem

/// The one thread on which memory is reclaimed and the hooks of a reclaim are called.
///
/// Sleeps until there is a request; ends when the manager is gone, after the reclaim it is at.
final class ReclaimThread: Sendable {
    private struct State {
        var queue = ReclaimQueue()
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
        let reclaim = Reclaim(context: context, root: root)
        try WorkerThread.spawn("pk-reclaim") {
            Admission.exemptThisThread()
            Self.work(state, reclaim)
        }
    }

    deinit { stop() }

    /// Asks for memory. Does not block. The reply comes on the reclaim thread; here and now, with nothing freed, if the
    /// thread has been stopped.
    func request(_ request: ReclaimRequest) {
        let isAccepted = state.withLock { state in
            if state.isStopped { return false }
            state.queue.add(request)
            return true
        }
        guard !isAccepted else { return }
        var report: EvictionReport? = EvictionReport(cause: request.cause)
        request.reply?(&report)
    }

    /// Whether a reclaim is wanted or running.
    var isActive: Bool { state.withLock { $0.queue.isActive || $0.isRunning } }

    /// How many callers wait for the reclaim that is running.
    var pendingReplies: Int { state.withLock { $0.queue.replyCount } }

    /// Ends the thread after the reclaim it is at. Does not wait for it.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Waits until the thread has ended. Blocks; never on the reclaim thread itself.
    func waitUntilEnded() { state.wait { $0.isEnded ? () : nil } }

    /// Waits until no reclaim is wanted or running. Blocks; returns at once on a thread that a reclaim itself needs.
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

    private static func work(_ state: ConditionLock<State>, _ reclaim: Reclaim) {
        while waitForWork(state) {
            reclaim.run { isReached in
                state.withLock { $0.queue.next(isReached: isReached) }
            }
            state.withLock { $0.isRunning = false }
        }
        state.withLock { $0.isEnded = true }
    }
}
