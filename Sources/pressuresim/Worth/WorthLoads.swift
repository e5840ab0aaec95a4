import PressureKit
import Synchronization

/// Counts the loads that began in the time that counts, of whichever store.
final class WorthLoads: Sendable {
    private let from = Atomic<Int64>(.max)
    private let to = Atomic<Int64>(.max)
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .relaxed) }

    /// Says what time counts. Until then none does.
    func begin(_ window: WorthWindow) {
        to.store(window.to, ordering: .relaxed)
        from.store(window.from, ordering: .releasing)
    }

    /// A load begins. From any thread.
    func note(at instant: MonotonicInstant) {
        guard instant.nanoseconds >= from.load(ordering: .acquiring), instant.nanoseconds < to.load(ordering: .relaxed)
        else { return }
        number.wrappingAdd(1, ordering: .relaxed)
    }
}
