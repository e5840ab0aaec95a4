import PressureSignals
import PressureSystem
import Synchronization

/// One reclaim from the first word to the report: delegate, events, controllers, then rounds until the target is reached.
struct Reclaim: Sendable {
    let context: ManagerContext
    let root: PressureController

    /// Runs what has been asked for. `next` says what to do until it says that the target is reached.
    func run(next: ((ReclaimAmount) -> Bool) -> ReclaimQueue.Step) {
        guard var answer = carryOut(next) else { return }
        for reply in answer.replies.dropLast() {
            var copy = answer.report
            reply(&copy)
        }
        answer.replies.last?(&answer.report)
    }

    private func carryOut(
        _ next: ((ReclaimAmount) -> Bool) -> ReclaimQueue.Step
    ) -> (report: EvictionReport?, replies: [ReclaimReply])? {
        let start = context.clock.now()
        guard case .work(var target) = next({ _ in false }) else { return nil }
        context.listener.begin()
        var report = EvictionReport(cause: target.cause)
        report.number = context.reclaims.wrappingAdd(1, ordering: .relaxed).newValue
        var progress = context.engine.begin()
        progress.isHurried = context.admission.isPressed
        progress.room = context.admission.room
        let isOver = context.isOver.map { isOver in { isOver(start) } }
        /// Telling of a change of level is none.
        var isReclaim = false
        var change: PressureCause?
        while true {
            report.cause = target.cause
            report.goal = target.amount.statedGoal
            report.isMonitored = target.isMonitored
            if target.isMonitored, target.cause.levelBefore != target.cause.levelAfter { change = target.cause }
            isReclaim = isReclaim || target.warning != nil || !target.amount.isNothing
            progress.isOver = target.isOnlyMonitored ? isOver : nil
            notify(target, &progress)
            if !progress.hasReached(target.amount) {
                context.listener.negotiate(target.cause, below: root)
                context.engine.round(&progress, root: root, amount: target.amount)
                context.listener.flush()
            }
            switch next({ progress.hasReached($0) }) {
            case .work(let raised): target = raised
            case .end(let replies):
                context.engine.end(&progress, report: &report)
                report.duration = context.clock.now() - start
                context.listener.end(&report, below: root)
                if let change { context.log.changed(change) }
                if isReclaim { tell(report) }
                return (report, replies)
            }
        }
    }

    private func notify(_ target: ReclaimQueue.Target, _ progress: inout ReclaimEngine.Progress) {
        let start = context.clock.now()
        context.listener.tell(target, below: root, context)
        progress.phases.notify += context.clock.now() - start
    }

    private func tell(_ report: EvictionReport) {
        context.lastCause = report.cause
        context.log.reclaimed(report)
        context.onReport?(report)
        context.observer.reclaimed?(report)
        context.meter?.reclaimed(report)
        context.events.deliver(.reclaimFinished(report))
    }
}
