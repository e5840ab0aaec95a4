import PressureSignals

/// What the manager tells the app as a whole, before any controller. Every method has an empty default.
///
/// Called on the manager's listener thread, one at a time, with no lock held; any PressureKit call may be made from any
/// of them. A reclaim waits for them, but not for long: see ``PressureControllerDelegate``.
public protocol PressureManagerDelegate: PressureResponder {
    /// Memory is short. Called before ``PressureManager/events`` and before any controller.
    func managerDidReceiveMemoryWarning(_ warning: MemoryWarning)

    /// The level changed, in either direction.
    func managerDidChangeLevel(_ cause: PressureCause)

    /// The app asked to go to the background; the caches are about to be spilled.
    func managerDidEnterBackground()

    /// The app asked to come to the foreground; what was visible is about to be restored.
    func managerWillEnterForeground()

    /// Whether a state is to be saved now. On the thread that asked.
    func shouldSaveState() -> Bool

    /// Whether a saved state is to be restored. On a thread of the library's own.
    ///
    /// - Parameters:
    ///   - saved: the version of the app that saved it.
    ///   - version: the one that would restore it.
    func shouldRestoreState(savedBy saved: String, version: String) -> Bool
}

extension PressureManagerDelegate {
    /// Does nothing.
    public func managerDidReceiveMemoryWarning(_ warning: MemoryWarning) {}

    /// Does nothing.
    public func managerDidChangeLevel(_ cause: PressureCause) {}

    /// Does nothing.
    public func managerDidEnterBackground() {}

    /// Does nothing.
    public func managerWillEnterForeground() {}
}

extension PressureManagerDelegate {
    /// Always.
    public func shouldSaveState() -> Bool { true }

    /// If it is of this version.
    public func shouldRestoreState(savedBy saved: String, version: String) -> Bool { saved == version }
}
