import PressureSignals
import PressureSystem
import Synchronization

/// What a reclaim tells the tree: everyone once, parents before children, on the listener's thread with nothing locked.
extension PressureController {
    /// Tells this controller and all below it, as far as they have not been told in this round. Returns whether the
    /// thread goes on.
    ///
    /// Hooks may move controllers meanwhile: one that comes to where the round has been is found by the next pass.
    func tell(_ telling: ListenerQueue.Telling, round: UInt64, by caller: HookCaller) -> Bool {
        if case .level = telling { return tellLevel(by: caller) }
        for _ in 0..<Self.mostPasses {
            var told = 0
            guard tell(telling, round: round, by: caller, &told) else { return false }
            if told == 0 { break }
        }
        return true
    }

    /// So that hooks which go on adding controllers do not hold up a reclaim for ever.
    private static let mostPasses = 8

    private func tell(
        _ telling: ListenerQueue.Telling,
        round: UInt64,
        by caller: HookCaller,
        _ told: inout Int
    ) -> Bool {
        let delegate = state.withLock { state -> (any PressureControllerDelegate)? in
            guard state.reportedRound != round else { return nil }
            state.reportedRound = round
            return state.delegate
        }
        if let delegate {
            told += 1
            guard tellOne(telling, delegate, by: caller) else { return false }
        }
        let (children, presented) = state.withLock { ($0.children, $0.presented) }
        for index in 0..<children.endIndex {
            guard let child = children[index], child.superior === self else { continue }
            guard child.tell(telling, round: round, by: caller, &told) else { return false }
        }
        guard let presented, presented.superior === self else { return true }
        return presented.tell(telling, round: round, by: caller, &told)
    }

    private func tellOne(
        _ telling: ListenerQueue.Telling,
        _ delegate: any PressureControllerDelegate,
        by caller: HookCaller
    ) -> Bool {
        switch telling {
        case .level: true
        case .warning(let warning):
            caller.call(self, "didReceiveMemoryWarning") { delegate.didReceiveMemoryWarning(warning) }
        case .negotiation(let cause): negotiate(cause, delegate, by: caller)
        case .underWay(let cause):
            !state.withLock(\.takesPart)
                || caller.call(self, "evictionIsUnderWay") { delegate.evictionIsUnderWay(cause) }
        case .ended(let report):
            !state.withLock { $0.takesPart.take() }
                || caller.call(self, "evictionDidEnd") { delegate.evictionDidEnd(report, for: self) }
        }
    }

    private func tellLevel(by caller: HookCaller) -> Bool {
        guard let scene = context?.scene, !scene.isSuspended, let cause = scene.newestCause else { return true }
        guard tellLevel(cause, by: caller) else { return false }
        if cause.levelAfter < cause.levelBefore { bringFullBack(at: cause.levelAfter) }
        return true
    }
}

extension Bool {
    /// The value, and `false` from now on.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}

extension PressureController {
    /// Tells of one value that leaves: on the listener's thread when a reclaim takes it, else on the calling one.
    func tell(_ hook: EvictionHook, _ resource: PressureResource) {
        resource.entry.noteForBudgets()
        guard let delegate else { return }
        if let listener = context?.listener, listener.isOnReclaimThread {
            listener.post(.eviction(hook, resource, self))
        } else {
            hook.call(delegate, resource)
        }
    }
}

extension PressureController {
    /// Whether this controller or one below it has a delegate. Allocates nothing.
    fileprivate var hasDelegate: Bool {
        let (delegate, children, presented) = state.withLock { ($0.delegate, $0.children, $0.presented) }
        if delegate != nil { return true }
        // By index: in a debug build an array's iterator allocates.
        for index in 0..<children.endIndex {
            if let child = children[index], child.hasDelegate { return true }
        }
        return presented?.hasDelegate ?? false
    }
}

extension Listener {
    /// Tells what a reclaim begins with: the manager's delegate, the events, the controllers. On the reclaim thread.
    func tell(_ target: ReclaimQueue.Target, below root: PressureController, _ context: ManagerContext) {
        hurry(for: target.cause.levelAfter)
        for index in 0..<target.preludes.count { post(.call(target.preludes[index])) }
        if !target.preludes.isEmpty {
            flush()
            post(.tree(root: root, .level, round: 0))
        }
        if let level = target.warning {
            let warning = MemoryWarning(level: level, cause: target.cause, bytesWanted: target.amount.statedGoal)
            context.scene.noteDemand()
            if let delegate = context.delegate {
                post(.managerWarning(delegate, warning))
                flush()
            }
            context.events.deliver(.memoryWarning(warning))
            post(.warning(warning), to: root)
        }
        flush()
    }

    /// Asks the controllers what may leave, tells those of which something may, and lets them work beside the eviction.
    func negotiate(_ cause: PressureCause, below root: PressureController) {
        guard post(.negotiation(cause), to: root) else { return }
        flush()
        post(.underWay(cause), to: root)
    }

    /// Has a tree told, if anybody in it listens: waking a thread for nobody costs a reclaim some 50 µs. Returns whether
    /// somebody does.
    @discardableResult
    private func post(_ telling: ListenerQueue.Telling, to root: PressureController) -> Bool {
        guard root.hasDelegate else { return false }
        post(.tree(root: root, telling, round: nextRound()))
        return true
    }

    /// Tells what came of it, and has failures handled. Allocates.
    func end(_ report: inout EvictionReport, below root: PressureController) {
        post(.ended(report), to: root)
        if report.hasSpillFailures { post(.failures(report)) }
        flush()
        report.unheard = end()
    }
}

extension EvictionReport {
    fileprivate var hasSpillFailures: Bool { skipped.contains { $0.reason == .spillFailed } }

    /// Sends every value that could not be written up to somebody who handles it.
    func climb() {
        var errors: [String: PressureError] = [:]
        for failure in failures where errors[failure.path ?? ""] == nil { errors[failure.path ?? ""] = failure }
        for skip in skipped where skip.reason == .spillFailed {
            skip.resource.climb(.spill, errors[skip.path] ?? PressureError.copyFailed(path: skip.path))
        }
    }
}

extension PressureError {
    /// A value that passed no bytes.
    fileprivate static func copyFailed(path: String) -> PressureError {
        PressureError(code: .spillFailed, message: "The value could not be written. It stays in memory.", path: path)
    }
}
