/// A task that is suspended until somebody resumes it: an `UnsafeContinuation` that ThreadSanitizer can follow, in builds for
/// it, which say so with `-DTHREAD_SANITIZER`.
///
/// Optimized code writes the value straight to where the task will read it, and who tells the task is in a library that is not
/// instrumented, so the sanitizer takes every value for a race. There it goes through a lock of ours that the sanitizer does
/// see. In all other builds this is the continuation and nothing else.
///
/// Safe: whoever holds one resumes it exactly once, since it is kept where it is taken out by one only.
@safe @usableFromInline
package struct Suspended<Value: Sendable>: Sendable {
    #if THREAD_SANITIZER
    @usableFromInline
    final class Slot: Sendable {
        let value = Lock<Value?>(nil)
    }

    let slot: Slot
    let continuation: UnsafeContinuation<Void, Never>

    /// Resumes the task with a value, and keeps nothing of it. Never blocks.
    package func resume(returning value: consuming Value) {
        var given: Value? = consume value
        slot.value.withLock { swap(&$0, &given) }
        unsafe continuation.resume()
    }

    /// Suspends the calling task until what `body` is given is resumed. Never blocks a thread.
    package static func wait(_ body: (Suspended) -> Void) async -> Value {
        let slot = Slot()
        await unsafe withUnsafeContinuation { unsafe body(Suspended(slot: slot, continuation: $0)) }
        // Taken: who has resumed it may keep the slot for a moment.
        return slot.value.withLock { $0.take() }!
    }
    #else
    @usableFromInline let continuation: UnsafeContinuation<Value, Never>

    @inlinable
    init(continuation: UnsafeContinuation<Value, Never>) { unsafe self.continuation = continuation }

    /// Resumes the task with a value, and keeps nothing of it. Never blocks.
    @inlinable
    package func resume(returning value: consuming Value) { unsafe continuation.resume(returning: value) }

    /// Suspends the calling task until what `body` is given is resumed. Never blocks a thread.
    @inlinable
    package static func wait(_ body: (Suspended) -> Void) async -> Value {
        await unsafe withUnsafeContinuation { unsafe body(Suspended(continuation: $0)) }
    }
    #endif
}

extension Suspended<Void> {
    /// Resumes the task. Never blocks.
    package func resume() { resume(returning: ()) }
}
