/// What caches have counted since that was last asked.
struct UnreportedCounts: Hashable, Sendable {
    var loads = 0
    var restores = 0
    var refaults = 0
    var failures = 0
}
