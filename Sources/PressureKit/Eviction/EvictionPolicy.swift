/// In which order values leave memory. Pure: a rank for each candidate, the lowest goes first.
package protocol EvictionPolicy: Sendable {
    /// The name under which reports and the tool know it.
    var name: String { get }

    /// The rank of a candidate at a reading of the ``UseClock``.
    func rank(_ candidate: Candidate, now: UInt32) -> UInt64
}

/// Least recently used, within classes: what costs nothing to release before what must be written, and the hidden
/// before the visible.
package struct LeastRecentlyUsed: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "lru" }

    package func rank(_ candidate: Candidate, now: UInt32) -> UInt64 {
        let age = now &- candidate.stamp
        return UInt64(candidate.evictionClass) << 32 | UInt64(UInt32.max - age)
    }
}

extension Candidate {
    /// 0: free and hidden, 1: free and visible, 2: to be written and hidden, 3: to be written and visible.
    package var evictionClass: UInt8 { (way == .spill ? 2 : 0) | (isVisible ? 1 : 0) }
}
