/// Whoever has values that could leave memory: all that evicting and copying ahead know of the tree of controllers.
protocol CandidateSource: AnyObject, Sendable {
    /// Collects the caches whose values could leave memory, for ``PlanStorage/list(canSpill:)``. Takes the locks that it
    /// needs; allocates nothing, and calls nobody of the app's.
    func collectOwners(in storage: PlanStorage)

    /// Collects the caches, and whether they can be seen. Allocates.
    func collectEntries(into found: inout [(entry: CacheEntry, isVisible: Bool)])
}
