#if ServiceLifecycle
public import ServiceLifecycle

/// A manager runs in a `ServiceGroup` like any other service, and stops watching on graceful shutdown.
extension PressureManager: Service {}
#endif

extension PressureManager {
    /// Suspends until the task is cancelled or, in a `ServiceGroup`, gracefully shut down.
    func waitForShutdown() async {
        #if ServiceLifecycle
        // It throws when the task is cancelled, which is as good a reason to stop.
        try? await gracefulShutdown()
        #else
        // A stream that never yields ends when its task is cancelled.
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        for await _ in stream {}
        continuation.finish()
        #endif
    }
}
