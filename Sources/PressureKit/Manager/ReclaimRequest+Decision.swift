import PressureSignals

/// From the monitor's words to a request.
extension ReclaimRequest {
    /// What a decision asks for: telling of a change of level, a reclaim, or both.
    init(_ decision: PressureDecision, share: Double, context: ManagerContext) {
        let amount = decision.reclaim.map { goal in
            guard let bytes = goal.bytes else { return ReclaimAmount(level: goal.level, share: share) }
            return goal.level == .warning ? .bytes(bytes.bytes, atMost: share) : .bytes(bytes.bytes)
        }
        var prelude: (@Sendable () -> Void)?
        if decision.levelChanged {
            let cause = decision.cause
            prelude = { [weak context] in
                context?.scene.note(cause)
                context?.delegate?.managerDidChangeLevel(cause)
                context?.events.deliver(.levelChanged(cause))
            }
        }
        self.init(
            cause: decision.cause,
            amount: amount ?? ReclaimAmount(),
            warns: decision.reclaim != nil,
            isMonitored: true,
            prelude: prelude
        )
    }
}

extension ReclaimAmount {
    /// What a warning frees that names no number of bytes.
    init(level: PressureLevel, share: Double) {
        self =
            switch level {
            case .normal: ReclaimAmount()
            case .warning: .share(share)
            case .critical: .everything
            }
    }
}

extension PressureMonitor {
    /// Learns from a reclaim: what came back, and what it cost.
    func note(_ report: EvictionReport) {
        noteReclaim(
            at: report.isMonitored ? report.cause.levelAfter : .normal,
            duration: report.duration,
            returned: max(.zero, report.returned)
        )
    }
}
