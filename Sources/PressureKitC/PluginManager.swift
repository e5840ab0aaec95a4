import PressureKit

/// A manager of the plugin's, running from its creation to ``end()``.
final class PluginManager: Sendable {
    let manager: PressureManager

    /// The manager does not keep its delegate.
    private let warnings = Lock<PluginWarnings?>(nil)

    /// - Throws: ``PressureError``, as the manager's own initialiser and ``PressureManager/run()``.
    init(_ configuration: PressureConfiguration, watches: Bool) throws {
        manager = try PressureManager(configuration: configuration)
        if watches { try manager.beginRunning() }
    }

    /// Blocks until a reclaim that is running has ended, and the app is told nothing more.
    func end() {
        tell(nil)
        manager.shutdownAndWait()
    }

    /// Has the app told of memory warnings, in place of whom was before. Blocks until that one is not running.
    func tell(_ new: PluginWarnings?) {
        let old = warnings.withLock { warnings in
            defer { warnings = new }
            manager.delegate = new
            return warnings
        }
        old?.close()
    }

    /// Whether the app is being told on the calling thread.
    var isTellingOnThisThread: Bool { warnings.withLock { $0 }?.isCallingOnThisThread ?? false }

    /// Blocks until what was visible is back.
    func enterForeground() { _ = wait { await $0.enterForeground() } }

    /// Saves the state. Blocks.
    ///
    /// - Throws: ``PressureError``, as ``PressureManager/saveState(to:version:)``.
    func saveState(to directory: String, _ version: String) throws -> StateReport {
        try wait { manager in await Result { try await manager.saveState(to: directory, version: version) } }.get()
    }

    /// Restores the state. Blocks.
    ///
    /// - Throws: ``PressureError``, as ``PressureManager/restoreState(from:version:)``.
    func restoreState(from directory: String, _ version: String) throws -> StateReport {
        try wait { manager in await Result { try await manager.restoreState(from: directory, version: version) } }.get()
    }

    /// Blocks until something that suspends is done. It needs a thread of Swift's cooperative pool: these are the calls that
    /// must not be made by tasks that keep all of them.
    private func wait<Value: Sendable>(_ body: @escaping @Sendable (PressureManager) async -> Value) -> Value {
        let manager = manager
        let result = ConditionLock<Value?>(nil)
        Task.detached {
            let value = await body(manager)
            result.withLock { $0 = value }
        }
        return result.wait { $0 }
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// What came of work that suspends.
    fileprivate init(_ body: @Sendable () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
