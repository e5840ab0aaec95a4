import PressureKit

/// A manager of the plugin's, running from its creation to ``end()``.
final class PluginManager: Sendable {
    let manager: PressureManager

    /// - Throws: ``PressureError``, as the manager's own initialiser and ``PressureManager/run()``.
    init(_ configuration: PressureConfiguration, watches: Bool) throws {
        manager = try PressureManager(configuration: configuration)
        if watches { try manager.beginRunning() }
    }

    /// Blocks until a relief that is running has ended.
    func end() {
        manager.endRunning()
        let manager = manager
        Self.wait { await manager.shutdown() }
    }

    /// Blocks until a relief has ended.
    func report(_ relief: @escaping @Sendable (PressureManager) async -> EvictionReport) -> EvictionReport {
        let manager = manager
        return Self.wait { await relief(manager) }
    }

    /// Blocks until what was visible is back.
    func enterForeground() {
        let manager = manager
        _ = Self.wait { await manager.enterForeground() }
    }

    /// Blocks the calling thread, which is the app's, until `body` has ended.
    private static func wait<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
        let result = ConditionLock<Result?>(nil)
        Task.detached {
            let value = await body()
            result.withLock { $0 = value }
        }
        return result.wait { $0 }
    }
}
