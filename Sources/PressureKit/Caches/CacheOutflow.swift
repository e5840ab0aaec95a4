import Synchronization

/// What has left a cache's memory so far, whoever asked for it: reclaims, the cache's own limit, room for loads.
package struct CacheOutflow: Hashable, Sendable {
    /// How often a value left memory.
    package var values = 0
    /// The bytes of those values.
    package var bytes = 0
    /// Plain bytes that were compressed or written, for that or ahead of it.
    package var copiedBytes = 0
    /// What copies took that were written anew in idle time, and what they take since.
    package var rewrittenFrom = 0
    package var rewrittenTo = 0

    package init() {}

    package static func += (sum: inout CacheOutflow, other: CacheOutflow) {
        sum.values += other.values
        sum.bytes += other.bytes
        sum.copiedBytes += other.copiedBytes
        sum.rewrittenFrom += other.rewrittenFrom
        sum.rewrittenTo += other.rewrittenTo
    }
}

extension CacheEntry {
    /// Counts of one moment each.
    fileprivate var outflow: CacheOutflow {
        var outflow = CacheOutflow()
        outflow.values = statistics.evictions.load(ordering: .relaxed)
        outflow.bytes = statistics.evictedBytes.load(ordering: .relaxed)
        outflow.copiedBytes = statistics.copiedBytes.load(ordering: .relaxed)
        outflow.rewrittenFrom = statistics.rewrittenFromBytes.load(ordering: .relaxed)
        outflow.rewrittenTo = statistics.rewrittenToBytes.load(ordering: .relaxed)
        return outflow
    }
}

extension LazyCache {
    /// What has left its memory so far.
    package var outflow: CacheOutflow { entry.outflow }
}

extension KeyedCache {
    /// What has left its memory so far, all keys together.
    package var outflow: CacheOutflow { entry.outflow }
}
