/// Least recently used, within classes: what costs nothing to release before what must be written, and the hidden
/// before the visible. The order of Dask's spill buffer and of most application caches.
package struct LeastRecentlyUsed: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "lru" }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 {
        candidate.rank(UInt64(UInt32.max - candidate.age(at: moment.now)))
    }
}
