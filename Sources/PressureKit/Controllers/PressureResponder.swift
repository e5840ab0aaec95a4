/// What delegates of controllers and managers have in common: a place in the chain that leads from a cache to its
/// controller, its parents, and the manager.
public protocol PressureResponder: AnyObject, Sendable {
    /// A load, spill or restore of a cache below has failed, and nobody further down has handled it. A load that was
    /// cancelled has not failed, and neither has reading a cache without a loader that has no value.
    ///
    /// Called with nothing locked, on the thread on which it failed; for a spill, on the manager's listener thread.
    ///
    /// - Returns: whether this has handled it, so that it climbs no further.
    func handle(_ failure: ResourceFailure) -> Bool

    /// A saved state has a controller that does not exist, at `path`, whose last part is its identifier. Asked of the
    /// controllers above it, the nearest first, and of the manager at last, until one provides it.
    ///
    /// - Parameters:
    ///   - path: where it is to be, such as `"news/article"`.
    ///   - coder: what it encoded.
    /// - Returns: a controller with that identifier, which is put in its place if it is not there yet; `nil` if it is
    ///   somebody else's matter. If nobody provides it, nothing below it is restored either.
    func controller(forRestoring path: String, coder: StateCoder) -> PressureController?
}

extension PressureResponder {
    /// Handles nothing.
    public func handle(_ failure: ResourceFailure) -> Bool { false }

    /// Provides nothing.
    public func controller(forRestoring path: String, coder: StateCoder) -> PressureController? { nil }
}
