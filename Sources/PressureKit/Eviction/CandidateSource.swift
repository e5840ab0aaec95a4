/// Whoever has values that could leave memory: all that evicting and copying ahead know of the tree of controllers.
protocol CandidateSource: AnyObject, Sendable {
    /// Lists every value that could leave memory, and counts those that cannot now. Takes the locks that it needs;
    /// allocates nothing, and calls nobody of the app's.
    func listCandidates(in storage: PlanStorage, canSpill: Bool)

    /// Collects the caches, and whether they can be seen. Allocates.
    func collectEntries(into found: inout [(entry: CacheEntry, isVisible: Bool)])
}
