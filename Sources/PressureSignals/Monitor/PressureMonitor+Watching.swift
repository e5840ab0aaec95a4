public import PressureSystem

/// Being told of memory pressure, and nothing else: for programs that have caches of their own.
///
/// ```swift
/// let monitor = try PressureMonitor { cause in
///     if cause.levelAfter >= .warning { cache.removeAll() }
/// }
/// try monitor.start()
/// ```
///
/// or, in a task:
///
/// ```swift
/// for await cause in try PressureMonitor.changes() where cause.levelAfter >= .warning {
///     cache.removeAll()
/// }
/// ```
extension PressureMonitor {
    /// Makes a monitor that tells of memory pressure; nothing is watched before ``start()``.
    ///
    /// - Parameters:
    ///   - sources: What is watched; by default everything there is on this machine.
    ///   - thresholds: Where the levels begin and end.
    ///   - onChange: Called with each change of level, and again at the same level (`levelBefore` is `levelAfter`) while
    ///     memory is still short and more should be freed. On the monitor's own thread, one call at a time; the next
    ///     sample is taken when it returns.
    /// - Throws: ``PressureError`` with code `signalUnavailable` when there is none of the sources here, and
    ///   `invalidConfiguration` when the thresholds contradict each other.
    public convenience init(
        sources: [PressureSource] = [.automatic],
        thresholds: PressureThresholds = PressureThresholds(),
        onChange: @escaping @Sendable (PressureCause) -> Void
    ) throws(PressureError) {
        try self.init(sources: try sources.open(), thresholds: thresholds) { onChange($0.cause) }
    }

    /// Changes of level, and calls for more memory at the same level, as they come; see
    /// ``init(sources:thresholds:onChange:)``.
    ///
    /// Watching begins at once and ends with the iteration or the task. Whoever is slow misses none of the last 16; older
    /// ones go. Does not block.
    ///
    /// - Parameters:
    ///   - sources: What is watched; by default everything there is on this machine.
    ///   - thresholds: Where the levels begin and end.
    /// - Throws: ``PressureError`` as the initialiser does, and with code `threadUnavailable` when no thread can be had.
    public static func changes(
        sources: [PressureSource] = [.automatic],
        thresholds: PressureThresholds = PressureThresholds()
    ) throws(PressureError) -> AsyncStream<PressureCause> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PressureCause.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        let monitor = try PressureMonitor(sources: sources, thresholds: thresholds) { continuation.yield($0) }
        try monitor.start()
        // The stream keeps the monitor, which ends with it.
        continuation.onTermination = { _ in monitor.stop() }
        return stream
    }
}
