import PressureSignals

/// One reclaim at a time: what is running, what it is to reach, and who waits for its report. Pure.
///
/// A request that comes while a reclaim runs does not queue behind it; it raises the running one's target. Bytes that
/// were freed already count towards it, so that two requests for the same shortage do not free twice.
package struct ReclaimQueue: Sendable {
    /// What is to be done now.
    package struct Target: Sendable {
        /// The most urgent cause so far.
        package var cause: PressureCause
        /// In total since the reclaim began.
        package var amount: ReclaimAmount
        /// The level of a warning that is due now.
        package var warning: PressureLevel?
        /// Whether the monitor is among those who asked.
        package var isMonitored = false
        /// Whether nobody else is: then the reclaim may end as soon as memory is not short any more.
        package var isOnlyMonitored = true
        /// What is to be called now.
        package var preludes: [@Sendable () -> Void] = []
    }

    /// What the reclaim thread does next.
    package enum Step: Sendable {
        /// Go on towards a target.
        case work(Target)
        /// The target is reached. These wait for the report; requests from now on begin a new reclaim.
        case end([ReclaimReply])
    }

    private var target: Target?
    private var warned = PressureLevel.normal
    private var replies: [ReclaimReply] = []

    /// A queue with nothing wanted.
    package init() {}

    /// Whether a reclaim is wanted or running.
    package var isActive: Bool { target != nil }

    /// How many wait for the report.
    package var replyCount: Int { replies.count }

    /// Adds a request.
    package mutating func add(_ request: ReclaimRequest) {
        if let reply = request.reply { replies.append(reply) }
        let level = request.cause.levelAfter
        var merged = target ?? Target(cause: request.cause, amount: request.amount)
        merged.amount = merged.amount.merged(with: request.amount)
        if request.isMonitored { merged.isMonitored = true } else { merged.isOnlyMonitored = false }
        if level > merged.cause.levelAfter { merged.cause = request.cause }
        if request.warns, level > warned { merged.warning = max(level, merged.warning ?? .normal) }
        if let prelude = request.prelude { merged.preludes.append(prelude) }
        target = merged
    }

    /// What is to be done next. `isReached` says whether an amount has been freed, or nothing more can be.
    package mutating func next(isReached: (ReclaimAmount) -> Bool) -> Step {
        guard let current = target, current.warning != nil || !current.preludes.isEmpty || !isReached(current.amount)
        else {
            defer { self = ReclaimQueue() }
            return .end(replies)
        }
        warned = max(warned, current.warning ?? .normal)
        target?.warning = nil
        target?.preludes = []
        return .work(current)
    }
}
