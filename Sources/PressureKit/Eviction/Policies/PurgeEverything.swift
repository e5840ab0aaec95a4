/// All that is not in use, at every warning: what Nuke, Kingfisher, SDWebImage, PINCache and YYCache do by default.
package struct PurgeEverything: EvictionPolicy {
    /// Creates the policy.
    package init() {}

    package var name: String { "purge" }

    package var takesEverything: Bool { true }

    package func rank(_ candidate: Candidate, at moment: PlanMoment) -> UInt64 { UInt64(candidate.evictionClass) }
}
