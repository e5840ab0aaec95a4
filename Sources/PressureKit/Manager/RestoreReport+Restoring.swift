import Synchronization

extension RestoreReport {
    /// Brings values back into memory, the first ones first, on the threads of the ``BlockingPool``.
    init(bringingBack entries: [CacheEntry]) async {
        await withTaskGroup(of: (CacheEntry, (any Error)?).self) { group in
            var waiting = entries[...]
            func bringBackNext() {
                guard let entry = waiting.popFirst() else { return }
                group.addTask {
                    do {
                        try await BlockingPool.shared.run { try entry.bringBack() }
                        return (entry, nil)
                    } catch {
                        return (entry, error)
                    }
                }
            }
            // A few at a time, so that the order holds and other readers get their turn.
            for _ in 0..<Self.concurrency { bringBackNext() }
            for await (entry, error) in group {
                bringBackNext()
                guard let error else {
                    restored.append(PressureResource(entry: entry))
                    bytes.bytes += entry.footprint
                    continue
                }
                let failure = PressureError(code: .restoreFailed, message: "\(error)", path: entry.path)
                failures.append(error as? PressureError ?? failure)
            }
        }
    }

    /// As many as keep two cores and a disk busy.
    private static let concurrency = 3
}

/// A cache that is remembered, not kept.
struct WeakEntry: Sendable {
    weak let entry: CacheEntry?
}

extension PressureController {
    /// The caches of visible controllers whose values are in memory.
    func collectVisible(into found: inout [CacheEntry]) {
        let (entries, isVisible, children) = state.withLock { ($0.entries, $0.isVisible, $0.children) }
        if isVisible { found += entries.filter { $0.residency == .resident } }
        for child in children { child.collectVisible(into: &found) }
    }
}
