import PressureKit

/// A way to answer pressure that is compared with the others: which values go first, and what becomes of them.
///
/// All of them are played by this library, so that everything else is equal. What competitors do that the library never
/// does, dropping a value that nothing can make again, is counted instead: ``Score/onlyCopies``.
enum Contender: String, CaseIterable, Sendable, Encodable {
    /// PressureKit as it is.
    case ours = "pressurekit"
    /// What iOS image caches do at a memory warning: drop all of it.
    case purge
    /// `NSCache` on Linux: the lowest cost first, and dropped.
    case nscache
    /// The least recently used first, spilled or dropped by cost as ours are.
    case lru
    /// The same, and all that a loader makes is dropped: an app with loaders, and nowhere to spill to.
    case lruDropped = "lru-dropped"
    /// The same, and everything is spilled: Dask's way.
    case lruSpilled = "lru-spilled"
    /// SIEVE.
    case sieve
    /// The largest first.
    case largest

    /// For sentences.
    var title: String {
        switch self {
        case .ours: "PressureKit"
        case .purge: "purge everything"
        case .nscache: "NSCache's order"
        case .lru: "LRU"
        case .lruDropped: "LRU, dropped"
        case .lruSpilled: "LRU, spilled"
        case .sieve: "SIEVE"
        case .largest: "largest first"
        }
    }

    /// For the head of a narrow column.
    var shortTitle: String {
        switch self {
        case .ours: "PressureKit"
        case .purge: "purge"
        case .nscache: "NSCache"
        case .lru: "LRU"
        case .lruDropped: "LRU drops"
        case .lruSpilled: "LRU spills"
        case .sieve: "SIEVE"
        case .largest: "largest"
        }
    }

    /// Who does that, for the legend.
    var model: String {
        switch self {
        case .ours: "cheapest to lose for each byte freed; spilled, or dropped where its loader is cheaper"
        case .purge: "all that is not in use, dropped: Nuke, Kingfisher, SDWebImage, PINCache at a memory warning"
        case .nscache: "the smallest first, the newest of equals, dropped: NSCache on Linux"
        case .lru: "the least recently used first, spilled or dropped where its loader is cheaper"
        case .lruDropped: "the same, dropped: what an app does that has loaders and no spill; most caches"
        case .lruSpilled: "the same, spilled whatever loading costs: Dask's spill buffer"
        case .sieve: "the oldest that was not used since the last look: SIEVE (NSDI 2024)"
        case .largest: "the largest first: PINCache's trimming, Velox's arbitration"
        }
    }

    /// Which values go first.
    var policy: any EvictionPolicy {
        switch self {
        case .purge: PurgeEverything()
        case .nscache: LowestCostFirst()
        case .ours, .lru, .lruDropped, .lruSpilled, .sieve, .largest: (order ?? .costAware).policy
        }
    }

    /// The library's order of that kind, for an app to choose instead of the default.
    private var order: EvictionOrder? {
        switch self {
        case .lru, .lruDropped, .lruSpilled: .leastRecentlyUsed
        case .sieve: .sieve
        case .largest: .largestFirst
        case .ours, .purge, .nscache: nil
        }
    }

    /// What becomes of every value that a loader makes, whatever that costs; `nil` for what is cheaper.
    var disposition: Disposition? {
        switch self {
        case .purge, .nscache, .lruDropped: .drop
        case .lruSpilled: .spill
        case .ours, .lru, .sieve, .largest: nil
        }
    }

    /// How an app gets this order from the library; `nil` for what only exists to be compared with.
    var setting: String? { disposition == nil ? order.map { "evictionOrder = .\($0.rawValue)" } : nil }
}
