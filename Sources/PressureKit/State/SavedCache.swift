import SpillStore

/// What of a saved state belongs to one cache, until the cache claims it.
struct SavedCache: Sendable {
    var cache: StateManifest.Cache
    /// The file with the values.
    var file: SegmentFile
}
