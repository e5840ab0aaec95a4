/// What the manager tells the app as a whole, before any controller. Every method has an empty default.
///
/// Called on the manager's listener thread, one at a time, with no lock held; any PressureKit call may be made from any
/// of them. A relief waits for them, but not for long: see ``PressureControllerDelegate``.
public protocol PressureManagerDelegate: PressureResponder {
    /// Memory is short. Called before ``PressureManager/events`` and before any controller.
    func managerDidReceiveMemoryWarning(_ warning: MemoryWarning)

    /// The level changed, in either direction.
    func managerDidChangeLevel(_ cause: PressureCause)

    /// The app asked to go to the background; the caches are about to be spilled.
    func managerDidEnterBackground()

    /// The app asked to come to the foreground; what was visible is about to be restored.
    func managerWillEnterForeground()
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
