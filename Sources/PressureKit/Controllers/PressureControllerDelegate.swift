import PressureSignals

/// What a controller tells the app object that has it. Every method has an empty default.
///
/// The names are UIKit's where UIKit has one. No hook is called with a lock held, and any PressureKit call may be made
/// from any of them. The order, for one warning:
///
/// ```
/// PressureManagerDelegate.managerDidReceiveMemoryWarning
///   └▶ PressureManager.events
///        └▶ didReceiveMemoryWarning       parents before children, each once
///             └▶ shouldEvict              parents before children, for each cache with something in memory
///                preferredDisposition
///                evictionWillBegin        if something of the controller's may go
///                  └▶ evictionIsUnderWay  beside the eviction
///                     resourceWillEvict   children before parents; only for what really goes,
///                     resourceDidEvict    clean copies and droppable values before those to be written
///                       └▶ evictionDidEnd parents before children
/// ```
///
/// All of these are called on the manager's listener thread, one at a time. A reclaim waits for them, half a second in
/// all when memory is nearly gone, else two; then it goes on without their answers, and its report names the delegate
/// (``EvictionReport/unheard``), which is told nothing more until its hook has returned.
///
/// Loads and restores are reported on the thread that made them, after the value is in place and before the reader gets
/// it; evictions that keep a cache to its limit or a controller to its budget on the thread that made them necessary;
/// appearance and containment on the thread that asked for them.
public protocol PressureControllerDelegate: PressureResponder {
    /// Memory is short. Let go of what you can make again and the caches do not hold.
    func didReceiveMemoryWarning(_ warning: MemoryWarning)

    /// A cache's loader has run and its value is in memory.
    func resourceDidLoad(_ resource: PressureResource)

    /// Whether the values of a cache may leave memory now. `false` is a veto: the reclaim does without them, and its
    /// report names them. Asked at each reclaim, and only of caches that may ``Disposition/keep`` their values.
    ///
    /// When the reason for a veto is gone, call ``PressureController/attemptEviction()``.
    func shouldEvict(_ resource: PressureResource) -> Bool

    /// What should become of the values of a cache, ``Disposition/spill`` or ``Disposition/drop``, if both are open;
    /// `nil` lets measured costs decide.
    func preferredDisposition(for resource: PressureResource) -> Disposition?

    /// A reclaim is about to take something from the controller's caches, if it needs to.
    func evictionWillBegin(_ cause: PressureCause)

    /// Values are being released and written on other threads. Work done here is done beside that.
    func evictionIsUnderWay(_ cause: PressureCause)

    /// The reclaim has ended. Called for each controller for which ``evictionWillBegin(_:)`` was called, so an object that is
    /// the delegate of several hears of one reclaim several times: see ``evictionDidEnd(_:for:)``.
    func evictionDidEnd(_ report: EvictionReport)

    /// The reclaim has ended, and this is told to the delegate of `controller`. Calls ``evictionDidEnd(_:)`` unless you
    /// implement it.
    ///
    /// The report is about the whole reclaim, whichever controller hears it. For one line a reclaim, use
    /// ``PressureManager/events``, which deliver each report once, or the library's own log: `reclaim finished`.
    func evictionDidEnd(_ report: EvictionReport, for controller: PressureController)

    /// A cache's value is leaving memory: it is out of readers' reach. Accessing the cache from here brings it back.
    func resourceWillEvict(_ resource: PressureResource)

    /// A cache's value has left memory.
    func resourceDidEvict(_ resource: PressureResource)

    /// A cache's value was read back from its copy.
    func resourceDidRestore(_ resource: PressureResource)

    /// The state of the process is being saved: encode what says where this controller was.
    func encodeRestorableState(into coder: inout StateCoder)

    /// A saved state is being restored, and every controller that is there again exists: decode what was encoded.
    func decodeRestorableState(from coder: StateCoder)

    /// All controllers have decoded.
    func didFinishRestoringState()

    /// How short memory is has changed. Told while the controller is visible; what changed while it was hidden is told
    /// once, as it is then, before `willAppear`.
    func levelDidChange(_ cause: PressureCause)

    /// The controller is about to become visible.
    func willAppear()

    /// The controller is visible: its caches are the last to be evicted.
    func didAppear()

    /// The controller is about to be hidden.
    func willDisappear()

    /// The controller is hidden: its caches are the first to be evicted.
    func didDisappear()

    /// The controller is about to be added to a parent, or with `nil` removed from it.
    func willMove(toParent parent: PressureController?)

    /// The controller has been added to a parent, or with `nil` removed from it.
    func didMove(toParent parent: PressureController?)
}

extension PressureControllerDelegate {
    /// Does nothing.
    public func didReceiveMemoryWarning(_ warning: MemoryWarning) {}

    /// Does nothing.
    public func resourceDidLoad(_ resource: PressureResource) {}

    /// Vetoes nothing.
    public func shouldEvict(_ resource: PressureResource) -> Bool { true }

    /// Prefers nothing.
    public func preferredDisposition(for resource: PressureResource) -> Disposition? { nil }

    /// Does nothing.
    public func evictionWillBegin(_ cause: PressureCause) {}

    /// Does nothing.
    public func evictionIsUnderWay(_ cause: PressureCause) {}

    /// Does nothing.
    public func evictionDidEnd(_ report: EvictionReport) {}

    /// Calls ``evictionDidEnd(_:)``.
    public func evictionDidEnd(_ report: EvictionReport, for controller: PressureController) { evictionDidEnd(report) }

    /// Encodes nothing.
    public func encodeRestorableState(into coder: inout StateCoder) {}

    /// Does nothing.
    public func decodeRestorableState(from coder: StateCoder) {}

    /// Does nothing.
    public func didFinishRestoringState() {}

    /// Does nothing.
    public func levelDidChange(_ cause: PressureCause) {}

    /// Does nothing.
    public func resourceWillEvict(_ resource: PressureResource) {}

    /// Does nothing.
    public func resourceDidEvict(_ resource: PressureResource) {}

    /// Does nothing.
    public func resourceDidRestore(_ resource: PressureResource) {}

    /// Does nothing.
    public func willAppear() {}

    /// Does nothing.
    public func didAppear() {}

    /// Does nothing.
    public func willDisappear() {}

    /// Does nothing.
    public func didDisappear() {}

    /// Does nothing.
    public func willMove(toParent parent: PressureController?) {}

    /// Does nothing.
    public func didMove(toParent parent: PressureController?) {}
}
