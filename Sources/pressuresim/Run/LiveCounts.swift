import Synchronization

/// Accesses, counted while they happen. Safe from any thread.
final class LiveCounts: Sendable {
    private let all = Atomic<Int>(0)
    private let missed = Atomic<Int>(0)

    /// Those that gave a value.
    var accesses: Int { all.load(ordering: .relaxed) }

    /// Of those, the ones that did not find it in memory.
    var misses: Int { missed.load(ordering: .relaxed) }

    /// Counts one.
    func note(_ outcome: AccessOutcome) {
        all.wrappingAdd(1, ordering: .relaxed)
        if outcome != .hit { missed.wrappingAdd(1, ordering: .relaxed) }
    }
}
