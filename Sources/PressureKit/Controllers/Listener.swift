import PressureSignals
import PressureSystem
import Synchronization

/// The thread on which a reclaim's hooks are called, so that a hook that throws time away does not hold the reclaim up.
///
/// The reclaim waits for the hooks as long as its ``ListenerPatience`` lasts. Then it goes on without them. If one hook
/// is to blame, another thread takes over from the one that is stuck in it: that delegate is told nothing until its hook
/// has returned, all others are.
final class Listener: Sendable {
    /// What the threads need, without keeping the listener alive.
    fileprivate struct Tools: Sendable {
        let queue = ConditionLock(ListenerQueue())
        let board: ListenerBoard
    }

    private struct Reclaim {
        var patience = ListenerPatience()
        var unheard: [UnheardListener] = []
        var round: UInt64 = 0
        /// Whose hooks are to be called elsewhere: the reclaim thread, while a reclaim runs.
        var thread: UInt32 = 0
    }

    private let tools: Tools
    private let clock: any MonotonicClock
    /// Whether a reclaim waits for its hooks however long they take: where the clock moves on with the reclaim, a hook that
    /// is called meanwhile would seem to take that time.
    private let waitsForEver: Bool
    private let reclaim = Lock(Reclaim())

    /// Starts the thread.
    ///
    /// - Throws: ``PressureError`` with `threadUnavailable`.
    init(clock: any MonotonicClock, waitsForEver: Bool = false) throws(PressureError) {
        self.clock = clock
        self.waitsForEver = waitsForEver
        tools = Tools(board: ListenerBoard(clock: clock))
        try tools.start(0)
    }

    deinit { tools.queue.withLock { $0.isStopped = true } }

    // MARK: One reclaim

    /// A reclaim begins, on the calling thread.
    func begin() {
        reclaim.withLock { $0 = Reclaim(round: $0.round, thread: .currentThread) }
    }

    /// The reclaim that is running is as urgent as this from now on.
    func hurry(for level: PressureLevel) { reclaim.withLock { $0.patience.hurry(for: level) } }

    /// The reclaim has ended. Returns whose hooks it has not waited for.
    func end() -> [UnheardListener] {
        reclaim.withLock { reclaim in
            reclaim.thread = 0
            return reclaim.unheard
        }
    }

    /// Whether the calling thread is the one that a reclaim runs on.
    var isOnReclaimThread: Bool { reclaim.withLock { $0.thread } == .currentThread }

    /// A number for a telling in which every controller is told once.
    func nextRound() -> UInt64 {
        reclaim.withLock { reclaim in
            reclaim.round += 1
            return reclaim.round
        }
    }

    /// Has something told. Waits for room, not for the telling; without room, when patience is at its end, it is not
    /// told.
    func post(_ item: ListenerQueue.Item) {
        if tools.queue.withLock({ $0.push(item) }) { return }
        flush()
        _ = tools.queue.withLock { $0.push(item) }
    }

    /// Waits until all is told, or patience is at its end.
    func flush() {
        guard !waitsForEver else { return tools.queue.wait { $0.count == 0 ? () : nil } }
        var last = clock.now()
        while true {
            let left = reclaim.withLock { $0.patience.left }
            // In slices, since the clock may be one that is moved by hand, and the reclaim may become more urgent.
            let isDone = tools.queue.wait(atMost: left > .zero ? Self.slice : .zero) { $0.count == 0 ? true : nil }
            let now = clock.now()
            reclaim.withLock { $0.patience.spend(now - last) }
            last = now
            if isDone != nil { return }
            let patience = reclaim.withLock(\.patience)
            if patience.left <= .zero || tools.board.isInHook(for: patience.limit) {
                giveUp(patience)
                if patience.left <= .zero { return }
            }
        }
    }

    private static let slice = Duration.milliseconds(10)

    /// Has another thread take over if one hook has used up most of the time.
    private func giveUp(_ patience: ListenerPatience) {
        guard let (call, next) = tools.board.depose(inHookFor: patience.limit / 2) else { return }
        let duration = clock.now() - call.since
        let unheard = UnheardListener(path: call.controller?.path ?? "", hook: call.hook, duration: duration)
        reclaim.withLock { $0.unheard.append(unheard) }
        // No answer is no veto, also if there was one to an earlier reclaim.
        call.controller?.forgetAnswers()
        // Without a thread the hooks wait for the one that is stuck.
        do throws(PressureError) { try tools.start(next) } catch { tools.board.reinstate(call) }
    }
}

extension Listener.Tools {
    /// Starts a thread.
    func start(_ number: Int) throws(PressureError) {
        try WorkerThread.spawn("pk-listen") {
            Admission.exemptThisThread()
            work(as: number)
        }
    }

    /// A thread's life.
    private func work(as number: Int) {
        while tellNext(number) {
            // What was told is let go before anybody hears that it was: a report may be the last to keep a cache.
            letGo(number)
            queue.withLock { queue in
                if board.isInCharge(number) { queue.pop() }
            }
        }
    }

    /// Tells the next item. Returns whether the thread goes on.
    private func tellNext(_ number: Int) -> Bool {
        guard let item = nextItem(number) else { return false }
        return HookCaller(board: board, number: number).tell(item)
    }

    /// Takes the item that was told out of the queue; it keeps its place.
    private func letGo(_ number: Int) {
        _ = queue.withLock { queue in board.isInCharge(number) ? queue.takeTold() : nil }
    }

    /// The next item; `nil` when the listener is gone, or another thread has taken over.
    private func nextItem(_ number: Int) -> ListenerQueue.Item? {
        queue.wait { queue -> ListenerQueue.Item?? in
            if queue.isStopped || !board.isInCharge(number) { return .some(nil) }
            guard let item = queue.begin() else { return nil }
            return .some(item)
        }
    }
}

/// How a thread of the listener calls hooks.
struct HookCaller {
    let board: ListenerBoard
    let number: Int

    /// Calls one, unless its delegate is still in another. Returns whether to go on.
    func call(_ controller: PressureController?, _ hook: String, _ body: () -> Void) -> Bool {
        board.call(controller, hook, by: number, body)
    }

    /// Tells one item. Returns whether to go on.
    func tell(_ item: ListenerQueue.Item) -> Bool {
        switch item {
        case .call(let body): call(nil, "a manager's hook", body)
        case .managerWarning(let delegate, let warning):
            call(nil, "managerDidReceiveMemoryWarning") { delegate.managerDidReceiveMemoryWarning(warning) }
        case .tree(let root, let telling, let round): root.tell(telling, round: round, by: self)
        case .eviction(let hook, let resource, let controller):
            call(controller, hook.name) {
                if let delegate = controller.delegate { hook.call(delegate, resource) }
            }
        case .failures(let report): call(nil, "handle") { report.climb() }
        }
    }
}
