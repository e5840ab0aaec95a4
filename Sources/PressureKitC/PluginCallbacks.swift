import CPressureKit
import Glibc
import PressureKit

/// The functions of the app's that make the value of a cache, and who is in them.
@safe
final class PluginCallbacks: @unchecked Sendable {
    // Sendable: nothing is changed but what is behind the lock, and the header has the app promise that its functions
    // may be called, with its context, on any thread.
    private struct State {
        var threads: [pthread_t] = []
        var isClosed = false
    }

    private let loadFunction: pressurekit_load_fn?
    private let releaseFunction: pressurekit_release_fn?
    private let context: UnsafeMutableRawPointer?
    private let state = ConditionLock(State())

    init(load: pressurekit_load_fn?, release: pressurekit_release_fn?, context: UnsafeMutableRawPointer?) {
        unsafe loadFunction = load
        unsafe releaseFunction = release
        unsafe self.context = context
    }

    var canLoad: Bool { unsafe loadFunction != nil }

    /// Whether the calling thread is in one of the functions.
    var isCallingOnThisThread: Bool {
        let thread = pthread_self()
        return state.withLock { $0.threads.contains { pthread_equal($0, thread) != 0 } }
    }

    /// Blocks until nobody is in them any more. Then nobody ever is.
    func close() {
        state.withLock { $0.isClosed = true }
        state.wait { $0.threads.isEmpty ? () : nil }
    }

    /// Has the app make the value, and copies it.
    ///
    /// - Throws: ``PluginFailure`` with PRESSUREKIT_LOAD_FAILED or PRESSUREKIT_SHUT_DOWN.
    func load() throws -> PageBuffer {
        try enter()
        defer { leave() }
        var address: UnsafeRawPointer?
        var count = 0
        // Both results are ours, and outlive the call; what they come to is what the header asks of the app.
        guard let status = unsafe loadFunction?(context, &address, &count) else { throw PluginFailure.shutDown }
        guard status == 0 else { throw PluginFailure.loadFailed("The load callback returned \(status).") }
        guard let address = unsafe address else { throw PluginFailure.loadFailed("The load callback gave no address.") }
        defer { unsafe releaseFunction?(context, address, count) }
        guard (1...PluginCache.mostBytes).contains(count) else {
            throw PluginFailure.loadFailed("The load callback gave \(count) bytes; 1 to 2^40 are allowed.")
        }
        return try unsafe PageBuffer(checking: UnsafeRawBufferPointer(start: address, count: count))
    }

    /// Calls a function of the app's that is none of the cache's own, as one that changes the value.
    ///
    /// - Throws: ``PluginFailure`` with PRESSUREKIT_SHUT_DOWN, and what `body` throws.
    func during(_ body: () throws -> Void) throws {
        try enter()
        defer { leave() }
        try body()
    }

    private func enter() throws {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.threads.append(pthread_self()) }
            return !state.isClosed
        }
        guard isOpen else { throw PluginFailure.shutDown }
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
