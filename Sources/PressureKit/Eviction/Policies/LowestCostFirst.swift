/// What `NSCache` does on Linux: lowest cost first, and of equal ones the newest first; it never looks at reads, nor at
/// what the values are for.
///
/// That is what its source does (swift-corelibs-foundation, `Sources/Foundation/NSCache.swift`): a list sorted by cost,
/// into which a new value is put before its equals, and which is emptied from the front. The cost here is the value's
/// bytes, which is what applications mostly pass.
package struct LowestCostFirst: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "nscache" }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 {
        let cost = min(UInt64(clamping: candidate.footprint) >> 4, 0xFFFF_FFFF)
        // 16 bits of age since arrival: enough to tell the newest of equals.
        return cost << 16 | UInt64(min(moment.now &- candidate.arrival, 0xFFFF))
    }
}
