import PressureSystem
import Synchronization

/// The background and back, as UIKit has it.
///
/// ```
/// enterBackground(within:)                        enterForeground()
///   managerDidEnterBackground                       managerWillEnterForeground
///   — suspended: no appearance events —             — resumed —
///   eviction of all that is not in use,             appearance events that were put off
///   visible values last, until the deadline         levelDidChange, if the level changed meanwhile
///                                                   what was visible is restored, the last used first,
///                                                   until it is done or memory is short again
/// ```
extension PressureManager {
    /// The app is idle: evicts all that is not in use, visible values last, so that the memory is there for others.
    ///
    /// Suspends until that is done. What was visible and in memory is remembered for ``enterForeground()``. From when
    /// the manager's delegate was told, controllers get no appearance events; what they missed comes on return.
    ///
    /// - Parameter limit: begin no more values after this time, counted from the call; those under way are finished, so
    ///   that it can be exceeded by the time one value takes. What was left is in the report as skipped, with the reason
    ///   ``EvictionReport/SkipReason/deadline``. A reclaim that was running without a limit keeps having none.
    public func enterBackground(within limit: Duration? = nil) async -> EvictionReport {
        // More than 30 years is no limit, and would not fit the clock.
        let deadline = limit.map { context.clock.now() + min(max($0, .zero), .seconds(1_000_000_000)) }
        return await perform(backgroundRequest(by: deadline, source: "enterBackground"))
    }

    /// The way to the background, yet to be begun. `source` is the word for whoever asks for it.
    func backgroundRequest(by deadline: MonotonicInstant? = nil, source: String) -> ReclaimRequest {
        ReclaimRequest(
            cause: cause(.background, source),
            amount: .everything.by(deadline),
            warns: false,
            prelude: { @Sendable [weak self] in self?.suspend() }
        )
    }

    /// The app is about to be used: controllers learn what they missed, then what was visible and in memory when the
    /// manager went to the background is restored, the most recently used first, on threads of the library's own.
    ///
    /// Suspends until that is done. New pressure ends it: a warning, or a level that rises. What was not begun by then
    /// is in the report as left, and comes back on its next access, as does a value that cannot be restored.
    public func enterForeground() async -> RestoreReport {
        let start = context.clock.now()
        _ = await perform(
            ReclaimRequest(
                cause: cause(.background, "enterForeground"),
                amount: ReclaimAmount(),
                warns: false,
                prelude: { @Sendable [weak self] in self?.resume() }
            )
        )
        let entries = visibleBefore.withLock { entries in
            defer { entries = [] }
            return entries.compactMap(\.entry)
        }
        let scene = context.scene
        let demands = scene.demands
        var report = await RestoreReport(bringingBack: entries, concurrency: context.restores) {
            scene.demands == demands
        }
        report.duration = context.clock.now() - start
        context.events.deliver(.restoreFinished(report))
        return report
    }

    /// Whether the manager is in the background: ``enterBackground(within:)`` was called, and ``enterForeground()`` not
    /// since.
    public var isInBackground: Bool { context.scene.isSuspended }

    private func suspend() {
        // Whatever is being restored ahead is not needed now.
        context.scene.noteDemand()
        var visible: [CacheEntry] = []
        root.collectVisible(into: &visible)
        visible.sort { UseClock.isReading($0.stamp, after: $1.stamp) }
        let remembered = visible.map(WeakEntry.init)
        let known = Set(visible.map { ObjectIdentifier($0) })
        visibleBefore.withLock { before in
            // A second call finds in memory only what came back after the first.
            before =
                remembered + before.filter { old in old.entry.map { !known.contains(ObjectIdentifier($0)) } ?? true }
        }
        delegate?.managerDidEnterBackground()
        _ = context.scene.suspend(true)
    }

    private func resume() {
        delegate?.managerWillEnterForeground()
        if context.scene.suspend(false) { root.resumeAppearance() }
    }
}
