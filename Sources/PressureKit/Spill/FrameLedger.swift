import Synchronization

/// How many frames a spill file may come to hold: one for each chunk of each value that is in memory or in the file.
///
/// Kept so that the file makes room in its tables when a value is loaded, not when it is spilled.
package final class FrameLedger: Sendable {
    private let file: SegmentFile
    private let count = Atomic<Int>(0)
    private let reserved = Atomic<Int>(0)
    private let entryCount = Atomic<Int>(0)

    /// A ledger with nothing counted.
    package init(file: SegmentFile) { self.file = file }

    /// How many values there may be, of all that were counted and not discounted.
    package var entries: Int { entryCount.load(ordering: .relaxed) }

    /// Counts values more, or with a negative number fewer.
    package func addEntries(_ count: Int) { entryCount.wrappingAdd(count, ordering: .relaxed) }

    /// Counts `frames` more, or with a negative number fewer. Makes room for twice as many when there is none left.
    package func add(_ frames: Int) {
        let total = count.wrappingAdd(frames, ordering: .relaxed).newValue
        guard frames > 0, total > reserved.load(ordering: .relaxed) else { return }
        reserved.store(2 * total, ordering: .relaxed)
        file.reserve(frames: 2 * total)
    }
}
