/// Where a cache's value is at this moment.
///
/// ```
///             load                    evict
/// unloaded ─────────▶ resident ─────────────────▶ compressed, or spilled
///     ▲                │   ▲                           │
///     └────────────────┘   └───────────────────────────┘
///       drop (a loader        restore, on the next
///       can rebuild it)       access
/// ```
public enum Residency: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// There is no value; the next access loads it.
    case unloaded
    /// The loader is running. Further readers wait for it: there is one load, however many ask.
    case loading
    /// The value is in memory.
    case resident
    /// The value is in memory, compressed; the next access restores it from there.
    case compressed
    /// The value is in the spill file only; the next access restores it.
    case spilled
    /// The value is being read back. Further readers wait for it.
    case restoring

    /// The name of the case.
    public var description: String {
        switch self {
        case .unloaded: "unloaded"
        case .loading: "loading"
        case .resident: "resident"
        case .compressed: "compressed"
        case .spilled: "spilled"
        case .restoring: "restoring"
        }
    }
}
