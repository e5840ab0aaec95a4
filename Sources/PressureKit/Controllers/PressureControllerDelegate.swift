/// What a controller tells the app object that has it. Every method has an empty default.
///
/// The names are UIKit's where UIKit has one. No hook is called with a lock held, and any PressureKit call may be made
/// from any of them. The order, for one warning:
///
/// ```
/// PressureManagerDelegate.managerDidReceiveMemoryWarning
///   └▶ PressureManager.events
///        └▶ didReceiveMemoryWarning       parents before children
///             └▶ resourceWillEvict        children before parents; only for what really goes,
///                resourceDidEvict         clean copies and droppable values before those to be written
/// ```
///
/// Warnings and evictions are reported on the manager's relief thread, one at a time. Loads and restores are reported on
/// the thread that made them, after the value is in place and before the reader gets it; appearance and containment on
/// the thread that asked for them.
public protocol PressureControllerDelegate: AnyObject, Sendable {
    /// Memory is short. Let go of what you can make again and the caches do not hold.
    func didReceiveMemoryWarning(_ warning: MemoryWarning)

    /// A cache's loader has run and its value is in memory.
    func resourceDidLoad(_ resource: PressureResource)

    /// A cache's value is leaving memory: it is out of readers' reach and about to be destroyed. Accessing the cache from
    /// here brings it back.
    func resourceWillEvict(_ resource: PressureResource)

    /// A cache's value has left memory.
    func resourceDidEvict(_ resource: PressureResource)

    /// A cache's value was read back from its copy.
    func resourceDidRestore(_ resource: PressureResource)

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
