import PressureKit
import Synchronization

/// Looks at a cgroup every few milliseconds from outside, so that it can say what filled it when its process was killed.
final class SurvivalObserver: Sendable {
    /// What a cgroup's memory is made of.
    struct Sight: Hashable, Sendable, Codable {
        var usageBytes = 0
        /// Anonymous memory: values, heap, stacks.
        var anonymousBytes = 0
        /// Page cache, of the spill file above all.
        var cacheBytes = 0
        /// The part of the page cache that has to be written before it can go.
        var dirtyBytes = 0
        /// What is left: page tables, descriptors and other memory of the kernel's.
        var otherBytes = 0
    }

    private let group: MemoryGroup
    private let isWatching = Atomic<Bool>(true)
    private let fullest = Lock(Sight())

    /// Begins to look.
    ///
    /// - Throws: `PressureError` where no thread is left.
    init(_ group: MemoryGroup) throws {
        self.group = group
        try WorkerThread.spawn("witness") { [self] in
            while isWatching.load(ordering: .relaxed) {
                look()
                Pause.sleep(.milliseconds(5))
            }
        }
    }

    /// Looks no more, and says what there was when most was used.
    func end() -> Sight {
        isWatching.store(false, ordering: .relaxed)
        return fullest.withLock { $0 }
    }

    private func look() {
        guard let usage = group.usage?.bytes else { return }
        let stat = group.fields(of: "memory.stat")
        func bytes(_ names: String...) -> Int { names.compactMap { stat[$0] }.first ?? 0 }
        let anonymous = bytes("total_rss", "anon")
        let cache = bytes("total_cache", "file")
        let sight = Sight(
            usageBytes: usage,
            anonymousBytes: anonymous,
            cacheBytes: cache,
            dirtyBytes: bytes("total_dirty", "file_dirty") + bytes("total_writeback", "file_writeback"),
            otherBytes: max(usage - anonymous - cache, 0)
        )
        fullest.withLock { if sight.usageBytes >= $0.usageBytes { $0 = sight } }
    }
}
