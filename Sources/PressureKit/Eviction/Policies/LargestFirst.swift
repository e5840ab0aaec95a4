/// The largest value first, within classes: the fewest evictions for the bytes, whatever they cost later. The order of
/// PINCache's trimming to a size, and of Velox's arbitration.
package struct LargestFirst: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "largest" }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 {
        let most = (UInt64(1) << 46) - 1
        return candidate.rank(most - min(UInt64(clamping: candidate.footprint), most))
    }
}
