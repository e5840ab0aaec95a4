import PressureSignals
import PressureSystem

/// The same as the `async` methods for callers that cannot suspend, such as those of the C plugin. They block the calling
/// thread, and need none of the cooperative pool: it may be busy with the very tasks that called.
extension PressureManager {
    /// ``simulateMemoryWarning(_:freeing:)``. Not to be called on the reclaim thread, that is from a hook.
    package func warnAndWait(_ level: PressureLevel, freeing bytes: ByteCount?, source: String) -> EvictionReport {
        performAndWait(warning(level, freeing: bytes, source: source))
    }

    /// ``enterBackground(within:)``, without a limit. Not to be called from a hook.
    package func enterBackgroundAndWait(source: String) -> EvictionReport {
        performAndWait(backgroundRequest(source: source))
    }

    /// ``shutdown()``. Not to be called from a hook.
    package func shutdownAndWait() {
        beginShutdown()
        reclaim.waitUntilEnded()
        context.events.finish()
    }

    private func performAndWait(_ request: ReclaimRequest) -> EvictionReport {
        let result = ConditionLock<EvictionReport?>(nil)
        var request = request
        context.listener.hurry(for: request.cause.levelAfter)
        request.reply = { report in
            let taken = report.take()
            result.withLock { $0 = taken }
        }
        reclaim.request(request)
        return result.wait { $0 }
    }
}
