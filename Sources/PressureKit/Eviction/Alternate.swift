import PressureSignals
import PressureSystem
import Synchronization

/// A lighter value in place of the full one while memory is short, as another interface stands in for another
/// orientation: a smaller picture, a coarser index.
final class Alternate: Sendable {
    /// At this level and above the lighter loader runs.
    let level: PressureLevel
    /// Of the loads that are running, by thread: whether they made the lighter value.
    private let made = Lock<[UInt32: Bool]>([:])

    init(from level: PressureLevel) { self.level = level }

    /// Runs the loader that the level calls for.
    func load<Value>(
        at current: PressureLevel,
        full: () throws -> Value,
        lighter: () throws -> Value
    ) rethrows -> Value {
        let isLighter = current >= level
        let value = isLighter ? try lighter() : try full()
        made.withLock { $0[.currentThread] = isLighter }
        return value
    }

    /// The same for loaders that suspend, and which of the two it was.
    func load<Value>(
        at current: PressureLevel,
        full: () async throws -> Value,
        lighter: () async throws -> Value
    ) async rethrows -> (Value, CacheVariant) {
        current >= level ? (try await lighter(), .alternate) : (try await full(), .full)
    }

    /// Whether the load that this thread has just ended made the lighter value.
    func takeMade() -> Bool { made.withLock { $0.removeValue(forKey: .currentThread) } ?? false }
}

/// Which of its values a cache with an alternate has.
public enum CacheVariant: UInt8, Sendable, CaseIterable {
    /// The one that the loader makes, or that was set.
    case full = 0
    /// The lighter one, made while memory was short.
    case alternate = 1
}
