import CLinuxShims
import PressureSystem

/// The one thread on which memory is reclaimed and the hooks of a reclaim are called.
///
/// Sleeps until there is a request; ends when the manager is gone, after the reclaim it is at.
final class ReclaimThread: Sendable {
    private struct State {
        var queue = ReclaimQueue()
        /// The background reclaim is to look what there is to free.
        var wantsRoom = false
        /// Who waits for what it frees.
        var roomReplies: [@Sendable (ByteCount) -> Void] = []
        /// Whether a reclaim that somebody has asked for is being carried out, or told.
        var isReclaiming = false
        /// Also after its target was reached, while the report is told.
        var isRunning = false
        var isStopped = false
        var isEnded = false

        mutating func takeReplies() -> [@Sendable (ByteCount) -> Void] {
            defer { roomReplies = [] }
            return roomReplies
        }
    }

    private let state: ConditionLock<State>

    /// Starts the thread.
    ///
    /// - Throws: ``PressureError`` with `threadUnavailable`.
    init(context: ManagerContext, root: PressureController) throws(PressureError) {
        let state = ConditionLock(State())
        self.state = state
        let reclaim = Reclaim(context: context, root: root)
        let background = BackgroundReclaim(context: context, root: root)
        try WorkerThread.spawn("pk-reclaim") {
            Admission.exemptThisThread()
            // Where that is not allowed, it goes on as it was.
            _ = pk_run_soon(true)
            Self.work(state, reclaim, background)
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

    /// Has the background reclaim look whether there is something to free. Does not block.
    ///
    /// - Parameter done: Called once, on the reclaim thread, with what it has freed; here and now if the thread has been
    ///   stopped.
    func makeRoom(_ done: (@Sendable (ByteCount) -> Void)? = nil) {
        let isAccepted = state.withLock { state in
            if state.isStopped { return false }
            state.wantsRoom = true
            if let done { state.roomReplies.append(done) }
            return true
        }
        if !isAccepted { done?(.zero) }
    }

    /// Whether a reclaim that somebody has asked for is wanted or running.
    var isActive: Bool { state.withLock { $0.queue.isActive || $0.isReclaiming } }

    /// How many callers wait for the reclaim that is running.
    var pendingReplies: Int { state.withLock { $0.queue.replyCount } }

    /// Ends the thread after the reclaim it is at. Does not wait for it.
    func stop() { state.withLock { $0.isStopped = true } }

    /// Waits until the thread has ended. Blocks; never on the reclaim thread itself.
    func waitUntilEnded() { state.wait { $0.isEnded ? () : nil } }

    /// Waits until no reclaim is wanted or running, in the background either. Blocks; returns at once on a thread that a
    /// reclaim itself needs.
    func waitUntilIdle() {
        guard !Admission.isThisThreadExempt else { return }
        state.wait { $0.queue.isActive || $0.wantsRoom || $0.isRunning ? nil : () }
    }

    private enum Work { case reclaim, background, none }

    /// Sleeps until there is something to do.
    private static func waitForWork(_ state: ConditionLock<State>) -> Work {
        state.wait { state in
            if state.queue.isActive {
                state.isRunning = true
                state.isReclaiming = true
                return .reclaim
            }
            if state.isStopped { return Work.none }
            guard state.wantsRoom else { return nil }
            state.wantsRoom = false
            state.isRunning = true
            return .background
        }
    }

    private static func work(_ state: ConditionLock<State>, _ reclaim: Reclaim, _ background: BackgroundReclaim) {
        loop: while true {
            switch waitForWork(state) {
            case .none: break loop
            case .reclaim:
                _ = pk_run_soon(true)
                reclaim.run { isReached in state.withLock { $0.queue.next(isReached: isReached) } }
            case .background:
                let freed = background.run { state.withLock { $0.queue.isActive || $0.isStopped } }
                for done in state.withLock({ $0.takeReplies() }) { done(ByteCount(bytes: freed)) }
            }
            state.withLock { state in
                state.isRunning = false
                state.isReclaiming = false
            }
        }
        for done in state.withLock({ $0.takeReplies() }) { done(.zero) }
        state.withLock { $0.isEnded = true }
    }
}
