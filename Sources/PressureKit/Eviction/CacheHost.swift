import PressureSystem

/// What a cache needs of whoever it was registered with; it is given one then, and does not keep it.
///
/// Called with nothing locked, unless said otherwise, on the thread that reads, writes or evicts.
protocol CacheHost: AnyObject, Sendable {
    /// Where it is in the tree; empty for a root.
    var path: String { get }
    /// Asked before a value is brought into memory; `nil` where nobody watches.
    var admission: Admission? { get }
    /// Who evicts; `nil` where nobody does.
    var engine: ReclaimEngine? { get }
    /// Whether it or somebody above it has a budget.
    var isBudgeted: Bool { get }
    /// What loads and restores are timed by.
    var clock: any MonotonicClock { get }
    /// Whether memory is short, so that nothing is loaded ahead of need. Climbs to the root.
    var isShort: Bool { get }

    /// Makes room in plans for what its caches have come to hold. Allocates.
    func reservePlans()
    /// A value is about to leave memory. Its slot's release is under way.
    func willEvict(_ resource: PressureResource)
    /// It has left.
    func didEvict(_ resource: PressureResource)
    /// A loader has made a value, which is in memory.
    func didLoad(_ resource: PressureResource)
    /// A value was read back, which took so long; another one may have taken its place meanwhile.
    func didRead(in duration: Duration)
    /// A value that was read back is in memory.
    func didRestore(_ resource: PressureResource)
    /// So many bytes of values have come into memory; budgets are kept to. May block on the disk.
    func didGrow(by bytes: Int)
    /// A load, spill or restore has failed. Whether somebody has handled it.
    func handle(_ failure: ResourceFailure) -> Bool
    /// Tells of a failure that reached no reader, or one reader only.
    func note(_ failure: PressureError)
    /// Nothing has been loaded for long for async readers of a cache: loaders hold all threads.
    func noteStuckLoaders(at path: String, threads: Int, waiting: Int)
}
