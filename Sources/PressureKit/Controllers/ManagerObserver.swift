import PressureSignals

/// Who is told of what a manager decides and does, there and then: for tools that keep a log in the order of events.
///
/// Unlike ``PressureEvents``, which a reader gets when it gets round to it.
package struct ManagerObserver: Sendable {
    /// The monitor has decided something. On the thread that took the sample, before anything follows from it.
    package var decided: (@Sendable (PressureDecision) -> Void)?
    /// A reclaim has ended. On the reclaim thread, before whoever asked for it gets the report.
    package var reclaimed: (@Sendable (EvictionReport) -> Void)?

    /// Nobody is told.
    package init(
        decided: (@Sendable (PressureDecision) -> Void)? = nil,
        reclaimed: (@Sendable (EvictionReport) -> Void)? = nil
    ) {
        self.decided = decided
        self.reclaimed = reclaimed
    }
}
