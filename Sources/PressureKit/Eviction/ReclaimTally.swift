import SpillStore

/// What a reclaim has done so far, counted for each cache: what left and how, what stayed and why, what failed.
///
/// A row for each cache and outcome, not for each value, so that a reclaim of a million values keeps a handful of rows.
/// Room for them is made when caches are registered; counting allocates nothing.
@safe
final class ReclaimTally: @unchecked Sendable {
    // Sendable and safe: it belongs to the PlanStorage, which one thread has at a time; `rows` has `capacity` elements.

    /// What happened to the values of a row.
    enum Outcome: Hashable {
        case evicted(EvictionReport.Outcome)
        case skipped(EvictionReport.SkipReason)
        case failed
    }

    /// The values of one cache that had one outcome.
    @safe struct Row {
        /// Retained while the row is in use, which makes the row safe. `nil` in an empty one.
        var entry: Unmanaged<CacheEntry>?
        var outcome = Outcome.failed
        /// Which row came first.
        var order = 0
        var count = 0
        var bytes = 0
        var plainBytes = 0
        var storedBytes = 0
        var copyTime = Duration.zero
        var releaseTime = Duration.zero
        /// The last reason of a row that failed, and on which server; `nil` for on the disk.
        var failure: SpillFailure?
        var server: String?
    }

    private(set) var rows = unsafe UnsafeMutableBufferPointer<Row>(start: nil, count: 0)
    /// How many rows there are.
    private(set) var capacity = 0
    /// Rows in use.
    private(set) var rowCount = 0
    /// Values whose cache was registered during this very reclaim, so that there was no row for it.
    private(set) var unlisted = 0

    deinit {
        clear()
        unsafe rows.deallocate()
    }

    /// Makes room for `caches` caches. Allocates; not during a reclaim.
    func reserve(caches: Int) {
        // Most have one outcome or two; a power of two, so that a hash is a mask.
        let wanted = 1 << (Int.bitWidth - max(63, 4 * caches - 1).leadingZeroBitCount)
        guard wanted > capacity else { return }
        precondition(rowCount == 0, "the tally grew while a reclaim was counted in it")
        unsafe rows.deallocate()
        unsafe rows = .allocate(capacity: wanted)
        unsafe rows.initialize(repeating: Row())
        capacity = wanted
    }

    /// Counts a value. Allocates nothing.
    func add(_ entry: CacheEntry, _ outcome: Outcome, _ change: (inout Row) -> Void) {
        // Fibonacci hashing of its address (Knuth, TAOCP 6.4).
        let address = UInt(bitPattern: unsafe Unmanaged.passUnretained(entry).toOpaque())
        var index = Int(truncatingIfNeeded: address &* 0x9E37_79B9_7F4A_7C15 >> 32) & (capacity - 1)
        for _ in 0..<capacity {
            // Masked, so within the rows.
            guard let known = unsafe rows[index].entry else {
                unsafe rows[index].entry = .passRetained(entry)
                unsafe rows[index].outcome = outcome
                unsafe rows[index].order = rowCount
                rowCount += 1
                unsafe Self.count(&rows[index], change)
                return
            }
            // Rows retain their entries.
            if unsafe known.toOpaque() == Unmanaged.passUnretained(entry).toOpaque(),
                unsafe rows[index].outcome == outcome
            {
                unsafe Self.count(&rows[index], change)
                return
            }
            index = (index + 1) & (capacity - 1)
        }
        unlisted += 1
    }

    private static func count(_ row: inout Row, _ change: (inout Row) -> Void) {
        row.count += 1
        change(&row)
    }

    /// Forgets what was skipped: a new round looks at everything anew.
    func clearSkips() {
        for index in 0..<capacity {
            // The row stays, with nothing in it, so that rows behind it are still found.
            if case .skipped = unsafe rows[index].outcome, unsafe rows[index].entry != nil {
                unsafe rows[index].count = 0
                unsafe rows[index].bytes = 0
            }
        }
    }

    /// The caches of which values could not be written, each with its last reason, and how many. Allocates.
    var failures: [(failure: ResourceFailure, count: Int)] {
        var found: [(failure: ResourceFailure, count: Int)] = []
        for index in unsafe rows.indices where unsafe rows[index].outcome == .failed && rows[index].count > 0 {
            let row = unsafe rows[index]
            // Retained by its row.
            guard let failure = row.failure, let entry = unsafe row.entry?.takeUnretainedValue() else { continue }
            found.append((ResourceFailure(entry, failure, server: row.server), row.count))
        }
        return found
    }

    /// Forgets everything.
    func clear() {
        for index in 0..<capacity where unsafe rows[index].entry != nil {
            unsafe rows[index].entry?.release()
            unsafe rows[index] = Row()
        }
        rowCount = 0
        unlisted = 0
    }
}
