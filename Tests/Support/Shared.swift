import PressureKit

/// A value that several closures share.
package final class Shared<Value: Sendable>: Sendable {
    private let state: Lock<Value>

    /// Holds `value` first.
    package init(_ value: Value) { state = Lock(value) }

    /// What it is now.
    package var value: Value { state.withLock { $0 } }

    /// Replaces it.
    package func set(_ value: Value) { state.withLock { $0 = value } }

    /// Changes it where it is.
    package func change<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result {
        state.withLock(body)
    }
}
