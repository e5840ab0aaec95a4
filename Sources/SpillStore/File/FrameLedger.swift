package import PressureSystem
import Synchronization

/// How many frames a spill file may come to hold: one for each chunk of each value that is in memory or in the file.
///
/// Kept so that the file makes room in its tables when a value is loaded, not when it is spilled.
package final class FrameLedger: Sendable {
    /// What the caches that are counted here bring into memory and give back.
    package let books: MemoryBooks
    private let file: SegmentFile
    private let memory: SegmentFile?
    private let count = Atomic<Int>(0)
    private let reserved = Atomic<Int>(0)
    private let valueCount = Atomic<Int>(0)
    private let cacheCount = Atomic<Int>(0)

    /// A ledger with nothing counted.
    package init(file: SegmentFile, memory: SegmentFile? = nil, books: MemoryBooks = MemoryBooks()) {
        self.books = books
        self.file = file
        self.memory = memory
    }

    /// How many values there may be, of all caches that were counted and not discounted.
    package var values: Int { valueCount.load(ordering: .relaxed) }

    /// How many caches.
    package var caches: Int { cacheCount.load(ordering: .relaxed) }

    /// Counts values more, or with a negative number fewer, and caches that come or go with them.
    package func addValues(_ values: Int, caches: Int = 0) {
        valueCount.wrappingAdd(values, ordering: .relaxed)
        cacheCount.wrappingAdd(caches, ordering: .relaxed)
    }

    /// Counts `frames` more, or with a negative number fewer. Makes room for twice as many when there is none left.
    package func add(_ frames: Int) {
        let total = count.wrappingAdd(frames, ordering: .relaxed).newValue
        guard frames > 0, total > reserved.load(ordering: .relaxed) else { return }
        reserved.store(2 * total, ordering: .relaxed)
        file.reserve(frames: 2 * total)
        // More than one a page will never have room there.
        memory?.reserve(frames: min(2 * total, (memory?.limits.maximumBytes?.bytes ?? 0) / 4096))
    }
}
