import PressureSignals

/// From the monitor's words to a request.
extension ReliefRequest {
    /// What a decision asks for: telling of a change of level, a relief, or both.
    init(_ decision: PressureDecision, share: Double, context: ManagerContext) {
        let amount = decision.relief.map { goal in
            guard let bytes = goal.bytes else { return ReliefAmount(level: goal.level, share: share) }
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
            amount: amount ?? ReliefAmount(),
            warns: decision.relief != nil,
            isMonitored: true,
            prelude: prelude
        )
    }
}

extension ReliefAmount {
    /// What a warning frees that names no number of bytes.
    init(level: PressureLevel, share: Double) {
        self =
            switch level {
            case .normal: ReliefAmount()
            case .warning: .share(share)
            case .critical: .everything
            }
    }
}

extension PressureMonitor {
    /// Learns from a relief: what came back, and what it cost.
    func note(_ report: EvictionReport) {
        noteRelief(
            at: report.isMonitored ? report.cause.levelAfter : .normal,
            duration: report.duration,
            returned: max(.zero, report.returned)
        )
    }
}
