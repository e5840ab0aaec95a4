/// What delegates of controllers and managers have in common: a place in the chain that leads from a cache to its
/// controller, its parents, and the manager.
public protocol PressureResponder: AnyObject, Sendable {
    /// A load, spill or restore of a cache below has failed, and nobody further down has handled it.
    ///
    /// Called with nothing locked, on the thread on which it failed; for a spill, on the manager's listener thread.
    ///
    /// - Returns: whether this has handled it, so that it climbs no further.
    func handle(_ failure: ResourceFailure) -> Bool
}

extension PressureResponder {
    /// Handles nothing.
    public func handle(_ failure: ResourceFailure) -> Bool { false }
}
