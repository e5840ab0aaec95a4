import PressureKit

/// A manager of the plugin's, running from its creation to ``end()``.
final class PluginManager: Sendable {
    let manager: PressureManager

    /// - Throws: ``PressureError``, as the manager's own initialiser and ``PressureManager/run()``.
    init(_ configuration: PressureConfiguration, watches: Bool) throws {
        manager = try PressureManager(configuration: configuration)
        if watches { try manager.beginRunning() }
    }

    /// Blocks until a reclaim that is running has ended.
    func end() { manager.shutdownAndWait() }

    /// Blocks until what was visible is back. It needs a thread of Swift's cooperative pool: the one call that must not be
    /// made by tasks that keep all of them.
    func enterForeground() {
        let manager = manager
        let isDone = ConditionLock(false)
        Task.detached {
            _ = await manager.enterForeground()
            isDone.withLock { $0 = true }
        }
        isDone.wait { $0 ? () : nil }
    }
}
