import Synchronization

extension RestoreReport {
    /// Brings values back into memory, the first ones first, on the threads of the ``BlockingPool``.
    ///
    /// - Parameters:
    ///   - entries: the caches, in order.
    ///   - goesOn: asked before each of them; the first `false` leaves it and the rest where they are.
    init(bringingBack entries: [CacheEntry], while goesOn: @escaping @Sendable () -> Bool = { true }) async {
        await withTaskGroup(of: (CacheEntry, (any Error)?).self) { group in
            var waiting = entries[...]
            func bringBackNext() {
                guard let entry = waiting.first, goesOn() else { return }
                waiting.removeFirst()
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
            left = waiting.map(PressureResource.init(entry:))
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
        let (entries, isSeen, below) = state.withLock { ($0.entries, $0.isSeen, $0.below) }
        if isSeen { found += entries.filter { $0.residency == .resident } }
        for controller in below { controller.collectVisible(into: &found) }
    }

    /// The caches of this controller and all below it whose values are in a copy only.
    func collectSpilled(into found: inout [CacheEntry]) {
        let (entries, below) = state.withLock { ($0.entries, $0.below) }
        found += entries.filter { $0.residency.isCopyOnly }
        for controller in below { controller.collectSpilled(into: &found) }
    }
}
