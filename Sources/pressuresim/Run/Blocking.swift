import Dispatch
import PressureKit

/// Bridges between tasks and threads that may block. The cooperative pool never waits for a scenario.
enum Blocking {
    /// Runs `body` on a thread of its own and suspends until it returns.
    static func run<Result: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try WorkerThread.spawn(name) { continuation.resume(with: Swift.Result { try body() }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Blocks this thread, which must not be a cooperative one, until `body` has finished.
    static func wait<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
        let done = DispatchSemaphore(value: 0)
        let box = Box<Result>()
        Task.detached {
            box.put(await body())
            done.signal()
        }
        done.wait()
        guard let result = box.take() else { preconditionFailure("signalled before there was a result") }
        return result
    }

    /// Runs `body` for each index on a thread of its own and blocks until all have returned.
    static func parallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) throws {
        guard count > 1 else { return body(0) }
        let done = DispatchSemaphore(value: 0)
        var started = 0
        defer { for _ in 0..<started { done.wait() } }
        for index in 0..<count {
            try WorkerThread.spawn("scenario-\(index)") {
                body(index)
                done.signal()
            }
            started += 1
        }
    }

    private final class Box<Value: Sendable>: Sendable {
        private let value = Lock<Value?>(nil)

        func put(_ value: Value) { self.value.withLock { $0 = value } }

        func take() -> Value? { value.withLock { $0.take() } }
    }
}
