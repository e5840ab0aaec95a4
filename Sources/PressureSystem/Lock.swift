public import Synchronization

/// A `Mutex` that ThreadSanitizer can follow, in builds for it, which say so with `-DTHREAD_SANITIZER`.
///
/// The standard library's lock is a futex in a library that is not instrumented, so the sanitizer takes every value
/// behind it for a race. There each holder also reads what the holder before wrote, in an atomic of ours that the
/// sanitizer does see. In all other builds this is the `Mutex` and nothing else.
@usableFromInline
package struct Lock<Value: ~Copyable>: ~Copyable {
    @usableFromInline let mutex: Mutex<Value>
    #if THREAD_SANITIZER
    @usableFromInline let handedOver = Atomic<Bool>(false)
    #endif

    /// Guards a value.
    @inlinable
    package init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Calls `body` with the value while no one else has it. Blocks until then. Not recursive: a thread that asks for a
    /// lock it holds ends the process.
    @inlinable
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { (value: inout sending Value) throws(Failure) -> sending Result in
            #if THREAD_SANITIZER
            _ = handedOver.load(ordering: .acquiring)
            defer { handedOver.store(true, ordering: .releasing) }
            #endif
            return try body(&value)
        }
    }
}

extension Lock where Value: ~Copyable {
    /// Calls `body` if no one else has the value now; `nil` otherwise. Never waits.
    package borrowing func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable { (value: inout sending Value) throws(Failure) -> sending Result in
            #if THREAD_SANITIZER
            _ = handedOver.load(ordering: .acquiring)
            defer { handedOver.store(true, ordering: .releasing) }
            #endif
            return try body(&value)
        }
    }
}

extension Lock: Sendable where Value: ~Copyable {}
