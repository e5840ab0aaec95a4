/// A delegate that a reclaim did not wait for any longer.
public struct UnheardListener: Sendable, Hashable {
    /// Where its controller is in the tree; empty for the root or the manager's delegate.
    public let path: String
    /// The hook that had not returned, as it is spelled in Swift, such as `"shouldEvict"`.
    public let hook: String
    /// How long it had been in it by then.
    public let duration: Duration
}
