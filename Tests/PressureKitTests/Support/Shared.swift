import PressureKit

/// A value that several closures share.
final class Shared<Value: Sendable>: Sendable {
    private let state: Lock<Value>

    init(_ value: Value) { state = Lock(value) }

    var value: Value { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }

    func change<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result { state.withLock(body) }
}
