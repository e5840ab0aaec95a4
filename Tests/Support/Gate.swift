import PressureKit

/// What tasks wait at until a test opens it, so that nothing has to sleep.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var arrivals = 0
    }

    private let state = Lock(State())

    /// Closed.
    package init() {}

    /// How many have come so far, those that went on or were cancelled included.
    package var arrivals: Int { state.withLock { $0.arrivals } }

    /// How many wait now.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Waits until it is open, cancelled or not.
    package func pass() async { try? await wait(isCancellable: false) }

    /// Waits until it is open, or throws `CancellationError` when the task is cancelled.
    package func passUnlessCancelled() async throws { try await wait(isCancellable: true) }

    /// Lets all go on, and whoever comes later.
    package func open() {
        let woken = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Has whoever comes from now on wait again.
    package func close() { state.withLock { $0.isOpen = false } }

    /// Whether it was opened.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Counts one who has come.
    package func arrive() { state.withLock { $0.arrivals += 1 } }

    /// Lets the others wait until so many have come.
    package func untilArrivals(_ count: Int) async { while arrivals < count { await Task.yield() } }

    private func wait(isCancellable: Bool) async throws {
        let number = state.withLock { state in
            state.arrivals += 1
            return state.arrivals
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if isCancellable, Task.isCancelled { return .failure(CancellationError()) }
                    if state.isOpen { return .success(()) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            guard isCancellable else { return }
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }
}
