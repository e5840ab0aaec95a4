import CPressureKit
import Glibc
import PressureKit

/// Who is in an app's functions, so that nobody waits for itself, and nobody is in them after they were taken away.
final class PluginGate: Sendable {
    private struct State {
        var threads: [pthread_t] = []
        var isClosed = false
    }

    private let state = ConditionLock(State())

    /// Whether the calling thread is in one of the functions.
    var isCallingOnThisThread: Bool {
        let thread = pthread_self()
        return state.withLock { $0.threads.contains { pthread_equal($0, thread) != 0 } }
    }

    /// Lets nobody in any more.
    func close() { state.withLock { $0.isClosed = true } }

    /// Blocks until nobody is in them.
    func waitUntilEmpty() { state.wait { $0.threads.isEmpty ? () : nil } }

    /// Calls `body`, which calls a function of the app's.
    ///
    /// - Throws: ``PluginFailure`` with PRESSUREKIT_SHUT_DOWN once it is closed, and what `body` throws.
    func during<Result>(_ body: () throws -> Result) throws -> Result {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.threads.append(pthread_self()) }
            return !state.isClosed
        }
        guard isOpen else { throw PluginFailure.shutDown }
        defer { leave() }
        return try body()
    }

    private func leave() {
        let thread = pthread_self()
        state.withLock { state in
            if let index = state.threads.lastIndex(where: { pthread_equal($0, thread) != 0 }) {
                state.threads.remove(at: index)
            }
        }
    }
}

/// Calls a function of the app's that may fail.
///
/// - Parameter name: what it is in messages, such as `The load callback of "thumbnails"`.
/// - Throws: ``PluginFailure`` with PRESSUREKIT_LOAD_FAILED, and the words that it has left, if it returns anything but 0.
func callApp(_ name: @autoclosure () -> String, _ function: () -> Int32) throws {
    // Of a callback further out, which may have said something already: it is not this one's.
    let outer = callbackError()
    if outer != nil { pressurekit_set_error(nil) }
    defer { if let outer { unsafe pressurekit_set_error(outer) } }
    let result = function()
    let words = callbackError()
    if words != nil { pressurekit_set_error(nil) }
    guard result != 0 else { return }
    throw PluginFailure(
        PRESSUREKIT_LOAD_FAILED,
        "\(name()) \(words.map { "failed: \($0)" } ?? "returned \(result).")",
        callbackResult: result
    )
}

/// What was said with pressurekit_set_error() on this thread; `nil` for nothing.
private func callbackError() -> String? {
    // The thread's own variable, which always ends with a zero. What is not UTF-8 is repaired.
    guard let text = unsafe pkc_callback_error(), unsafe text.pointee != 0 else { return nil }
    return unsafe String(cString: text)
}
