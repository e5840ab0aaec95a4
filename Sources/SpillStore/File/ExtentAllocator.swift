/// Hands out runs of 4 KiB units of a file: lowest address first, neighbours merged, the tail shrunk at once.
///
/// First fit by address rather than best fit, for two reasons. It keeps the low end of the file full, so that the tail
/// empties and can be cut off. And its worst case is known: for live units M and requests of up to n units the file
/// stays within about M·log₂ n units, against M·n for best fit (Robson, "Worst case fragmentation of first fit and
/// best fit storage allocation strategies", The Computer Journal 20(3), 1977). Here n is 64, a full stored chunk: a file
/// of M live units has at most 6 M.
///
/// Pure: no clock, no lock, no descriptor. Allocates nothing while there are at most as many free extents as reserved
/// for; since free extents lie between live ones, reserving for the live ones is enough.
package struct ExtentAllocator: Sendable {
    /// Bytes of a unit: the block size of the usual file systems, and the page size of the page cache.
    package static let unitSize = 4 << 10

    /// Units that `byteCount` bytes occupy.
    static func units(forByteCount byteCount: Int) -> Int { (byteCount + unitSize - 1) / unitSize }

    /// Units the file may have.
    let limit: UInt32
    /// Units up to and including the last live extent.
    private(set) var end: UInt32 = 0
    /// Units in live extents.
    private(set) var liveUnits = 0
    /// Free units below `end` that may hold blocks.
    private(set) var holdingUnits = 0
    private var free: FreeExtents
    /// The units in which several small frames live.
    var shared = SharedUnits()

    /// An empty file that may grow to `limit` units, with room for `capacity` free extents.
    init(limit: UInt32, capacity: Int = 0) {
        self.limit = limit
        free = FreeExtents(capacity: capacity)
    }

    /// Makes room for `extents` live extents. Call it outside reclaim: it may allocate.
    mutating func reserve(extents: Int) { free.reserve(extents + 1) }

    /// Units that are free below `end`.
    var freeUnits: Int { Int(end) - liveUnits }

    /// A run of `count` units, or `nil` when the limit leaves none.
    mutating func allocate(_ count: UInt32) -> Extent? {
        precondition(count > 0, "An extent has at least one unit.")
        var extent = Extent(start: end, count: count)
        if let low = free.takeLowest(count) {
            extent = low.extent
            if low.holdsBlocks { holdingUnits -= Int(count) }
        } else {
            guard limit - end >= count else { return nil }
            end += count
        }
        liveUnits += Int(count)
        return extent
    }

    /// Gives a run back; `holdsBlocks` says whether the file may still have blocks for it.
    ///
    /// Freeing what is not live is a programming error and traps: going on would hand one extent out twice.
    mutating func free(_ extent: Extent, holdsBlocks: Bool = true) {
        precondition(extent.count > 0 && extent.end <= end, "This extent is not live.")
        var merged = FreeExtents.Entry(extent: extent, holdsBlocks: holdsBlocks)
        if let low = free.last(before: extent.end) {
            precondition(low.extent.end <= extent.start, "This extent is not live.")
            if low.extent.end == extent.start {
                absorb(low.extent.start, into: &merged)
                merged.extent.start = low.extent.start
            }
        }
        absorb(extent.end, into: &merged)
        liveUnits -= Int(extent.count)
        if merged.extent.end == end {
            end = merged.extent.start
        } else {
            free.insert(merged)
            if merged.holdsBlocks { holdingUnits += Int(merged.extent.count) }
        }
    }

    /// Takes one frame off a unit that is shared. With the last one, returns the unit, which is then to be freed.
    mutating func takeLastFrame(of unit: UInt32) -> Extent? {
        shared.removeFrame(of: unit) ? Extent(start: unit, count: 1) : nil
    }

    /// Merges the free extent that begins at `unit`, if there is one, into a neighbour.
    private mutating func absorb(_ unit: UInt32, into merged: inout FreeExtents.Entry) {
        guard let neighbour = free.remove(startingAt: unit) else { return }
        merged.extent.count += neighbour.extent.count
        if neighbour.holdsBlocks { holdingUnits -= Int(neighbour.extent.count) }
        merged.holdsBlocks = merged.holdsBlocks || neighbour.holdsBlocks
    }

    /// Takes the lowest free run at or above `unit` that may hold blocks and has `minimum` units or more, so that
    /// nobody else gets it while its blocks are given back. Return it with `free(_:holdsBlocks: false)`.
    mutating func takeHolding(from unit: UInt32, minimum: UInt32) -> Extent? {
        guard let extent = free.takeHolding(from: unit, minimum: minimum) else { return nil }
        holdingUnits -= Int(extent.count)
        liveUnits += Int(extent.count)
        return extent
    }

    /// Every free extent, lowest first. Allocates; for tests and diagnostics.
    var freeExtents: [FreeExtents.Entry] {
        var all: [FreeExtents.Entry] = []
        free.forEach { all.append($0) }
        return all
    }

    /// Whether the tree of free extents is sound. For tests.
    var isConsistent: Bool { free.isConsistent }
}
