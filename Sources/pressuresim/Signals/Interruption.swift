import Dispatch
import Foundation
import PressureKit

/// Ends what has no end of its own: ^C and termination are noted instead of ending the tool at once.
final class Interruption: @unchecked Sendable {
    // Sendable: the sources are made once and then only kept.
    private let semaphore = DispatchSemaphore(value: 0)
    private let sources: [any DispatchSourceSignal]

    /// Takes over SIGINT and SIGTERM, and SIGHUP for a terminal that closes. When this returns none of them is missed.
    init() {
        let semaphore = semaphore
        let registered = DispatchSemaphore(value: 0)
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            // Without this the default action would still end the process.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { semaphore.signal() }
            source.setRegistrationHandler { registered.signal() }
            source.activate()
            return source
        }
        // Until then a signal is ignored, and lost.
        for _ in sources { registered.wait() }
    }

    /// Blocks until the tool is told to end, or the time is over.
    ///
    /// - Returns: whether it was told.
    func wait(upTo limit: Duration?) -> Bool {
        guard let limit else {
            semaphore.wait()
            return true
        }
        let nanoseconds = Int(clamping: limit.nanoseconds)
        return semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success
    }

    /// As if the tool had been told to end.
    func end() { semaphore.signal() }
}
