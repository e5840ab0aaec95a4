import PressureSystem
import Synchronization

extension RestoreReport {
    /// Brings values back into memory, the first ones first, without blocking the calling thread.
    ///
    /// - Parameters:
    ///   - entries: the caches, in order.
    ///   - concurrency: how many at a time. A few, so that the order holds and other readers get their turn.
    ///   - goesOn: asked before each of them; the first `false` leaves it and the rest where they are.
    init(
        bringingBack entries: [CacheEntry],
        concurrency: Int = Self.concurrency,
        while goesOn: @escaping @Sendable () -> Bool = { true }
    ) async {
        await withTaskGroup(of: (CacheEntry, wasAway: Bool, (any Error)?).self) { group in
            var waiting = entries[...]
            func bringBackNext() {
                guard let entry = waiting.first, goesOn() else { return }
                waiting.removeFirst()
                group.addTask {
                    let wasAway = entry.residency != .resident
                    do {
                        try await entry.bringBackSuspending()
                        return (entry, wasAway, nil)
                    } catch {
                        return (entry, wasAway, error)
                    }
                }
            }
            for _ in 0..<concurrency { bringBackNext() }
            for await (entry, wasAway, error) in group {
                bringBackNext()
                note(entry, wasAway: wasAway, error)
            }
            left = waiting.map(PressureResource.init(entry:))
        }
    }

    /// The same one after the other, on the calling thread. Blocks.
    init(bringingBackInTurn entries: [CacheEntry], while goesOn: () -> Bool) {
        var waiting = entries[...]
        while let entry = waiting.first, goesOn() {
            waiting.removeFirst()
            let wasAway = entry.residency != .resident
            do {
                try entry.bringBack()
                note(entry, wasAway: wasAway, nil)
            } catch {
                note(entry, wasAway: wasAway, error)
            }
        }
        left = waiting.map(PressureResource.init(entry:))
    }

    private mutating func note(_ entry: CacheEntry, wasAway: Bool, _ error: (any Error)?) {
        guard let error else {
            // What had stayed was not restored, nor was what nobody has a copy of.
            guard wasAway, entry.residency == .resident else { return }
            restored.append(PressureResource(entry: entry))
            bytes.bytes += entry.footprint
            return
        }
        failures.append(.restoreFailed(error, path: entry.path))
    }

    /// As many as keep two cores and a disk busy.
    static let concurrency = 3
}

/// A cache that is remembered, not kept.
struct WeakEntry: Sendable {
    weak let entry: CacheEntry?
}

extension PressureController {
    /// The caches of visible controllers whose values are in memory.
    func collectVisible(into found: inout [CacheEntry]) {
        let (entries, isSeen, below) = state.withLock { ($0.entries, $0.isSeen, $0.below) }
        if isSeen { found += entries.filter { $0.comesBack && $0.residency == .resident } }
        for controller in below { controller.collectVisible(into: &found) }
    }

    /// The caches of this controller and all below it whose values are in a copy only.
    func collectSpilled(into found: inout [CacheEntry]) {
        let (entries, below) = state.withLock { ($0.entries, $0.below) }
        found += entries.filter { $0.comesBack && $0.residency.isCopyOnly }
        for controller in below { controller.collectSpilled(into: &found) }
    }
}
