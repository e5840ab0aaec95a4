import PressureSystem
import Synchronization

/// Changing from one child to another without a moment at which neither is safe.
extension PressureController {
    /// Hides one child and shows another in its place; the incoming one's spilled values are restored before the outgoing
    /// one is hidden, so that what is on the screen is never what is evicted first.
    ///
    /// ```
    /// outgoing  willDisappear
    /// incoming  willAppear
    /// incoming  resourceDidRestore      for each of its values that was in the spill file, and of those below it
    /// incoming  didAppear
    /// outgoing  didDisappear            from here on it is among the first to be evicted
    /// ```
    ///
    /// The incoming child appears if the outgoing one was visible. Suspends while values are restored; what cannot be is
    /// in the report, and no reason to stop. While the manager is in the background only visibility is changed.
    ///
    /// - Throws: ``PressureError`` with `hierarchyInconsistency` when either is no child of this controller, or both are
    ///   the same. Nothing has changed then.
    @discardableResult
    public func transition(
        from outgoing: PressureController,
        to incoming: PressureController
    ) async throws(PressureError) -> RestoreReport {
        for child in [outgoing, incoming] where child.parent !== self {
            throw .hierarchyInconsistency(
                "\"\(child.identifier)\" is no child of \"\(path)\". Add it there before the transition.",
                path: child.path
            )
        }
        guard outgoing !== incoming else {
            throw .hierarchyInconsistency("A transition needs two children.", path: outgoing.path)
        }
        guard !isSuspended else {
            let wasSeen = outgoing.state.withLock { $0.wantsVisible ?? $0.appearance.isAppearing }
            outgoing.disappear()
            if wasSeen { incoming.appear() }
            return RestoreReport()
        }
        var (leaving, coming) = (AppearanceTransitions(), AppearanceTransitions())
        let wasSeen = outgoing.state.withLock { $0.appearance.isAppearing } || outgoing.presented?.isVisible ?? false
        outgoing.beginTransition(false, into: &leaving)
        if wasSeen { incoming.beginTransition(true, into: &coming) }
        var spilled: [CacheEntry] = []
        incoming.collectSpilled(into: &spilled)
        let report = await RestoreReport(
            bringingBack: spilled,
            concurrency: context?.restores ?? RestoreReport.concurrency
        )
        coming.end()
        leaving.end()
        return report
    }
}
