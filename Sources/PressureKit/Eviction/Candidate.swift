/// What the planner knows of one value that could leave memory. Trivial, so that a million of them are one buffer.
package struct Candidate: Sendable {
    /// How the value may leave memory.
    package enum Way: UInt8, Sendable {
        /// A checked copy exists: releasing is one free.
        case release
        /// The loader is cheaper than a restore: release, and let the loader make it again.
        case drop
        /// A copy has to be written first.
        case spill
    }

    /// Bytes that come back.
    package var footprint: Int
    /// The ``UseClock`` reading of its last use.
    package var stamp: UInt32
    /// How it would leave.
    package var way: Way
    /// Whether its controller is visible.
    package var isVisible: Bool
    /// Its controller's distance from the root.
    package var depth: UInt16

    /// Creates a candidate.
    package init(footprint: Int, stamp: UInt32, way: Way, isVisible: Bool, depth: UInt16) {
        self.footprint = footprint
        self.stamp = stamp
        self.way = way
        self.isVisible = isVisible
        self.depth = depth
    }
}

extension Candidate.Way {
    /// Reading back runs at about 300 MB of plain bytes a second and core, plus a system call
    /// (`pread` and inflate, measured with zlib 1.2.13); an assumption until the cache has measured its own.
    private static let assumedRestoreRate = 300.0 * 1e6
    private static let assumedRestoreLatency = 20e-6

    /// Whether a dirty value is better loaded again than written and read back.
    ///
    /// A value that no loader makes is always written. One whose loader has never been timed is written too.
    package static func forDirty(
        isReloadable: Bool,
        loadTime: Duration?,
        restoreTime: Duration?,
        byteCount: Int,
        canSpill: Bool
    ) -> Candidate.Way {
        guard isReloadable else { return .spill }
        guard canSpill else { return .drop }
        guard let loadTime else { return .spill }
        let restore = restoreTime ?? .seconds(Double(byteCount) / assumedRestoreRate + assumedRestoreLatency)
        return loadTime <= restore ? .drop : .spill
    }
}
