import PressureSystem
import Synchronization

/// A cache's ``Lifetime`` at work: by which clock, and what is being loaded anew.
final class Lifetimes: Sendable {
    let lifetime: Lifetime

    /// A class, so that a reader gets at the clock without a lock.
    private final class Timer: Sendable {
        let clock: any MonotonicClock
        init(_ clock: any MonotonicClock) { self.clock = clock }
    }

    private struct Refreshes {
        /// What is being loaded anew, by the address of its slot.
        var running: Set<UInt> = []
        /// When that was last tried in vain.
        var failed: [UInt: UInt32] = [:]
    }

    private let timer = AtomicLazyReference<Timer>()
    private let refreshes = Lock(Refreshes())
    /// Values of a cache that are loaded anew at a time: ahead of need, they leave threads to what is needed.
    static let mostRefreshes = 4

    init(_ lifetime: Lifetime) { self.lifetime = lifetime }

    /// The present tick, by the clock of the manager that the cache first belonged to; before that, by the system's.
    ///
    /// - Parameter host: looked for only until there is one with a manager: it is a weak reference that all readers share.
    func now(_ host: @autoclosure () -> (any CacheHost)?) -> UInt32 {
        if let timer = timer.load() { return Lifetime.tick(at: timer.clock.now()) }
        guard let host = host(), host.engine != nil else { return Lifetime.tick(at: SystemClock().now()) }
        return Lifetime.tick(at: timer.storeIfNil(Timer(host.clock)).clock.now())
    }

    /// Whether a value is to be loaded anew by whoever asks. Once it has failed, it is left alone for as long as a fresh one.
    func beginRefresh(_ slot: UInt, at now: UInt32) -> Bool {
        refreshes.withLock { refreshes in
            guard refreshes.running.count < Self.mostRefreshes, !refreshes.running.contains(slot) else { return false }
            if let last = refreshes.failed[slot], !isOver(last, at: now) { return false }
            refreshes.running.insert(slot)
            return true
        }
    }

    func endRefresh(_ slot: UInt, at now: UInt32, hasFailed: Bool) {
        refreshes.withLock { refreshes in
            refreshes.running.remove(slot)
            refreshes.failed[slot] = hasFailed ? now : nil
            // Of slots that have other values by now.
            if refreshes.failed.count > 1024 {
                refreshes.failed = refreshes.failed.filter { !isOver($0.value, at: now) }
            }
        }
    }

    private func isOver(_ pause: UInt32, at now: UInt32) -> Bool { now &- pause >= lifetime.toRefresh ?? 0 }
}
