import Synchronization

/// Traps when two threads use one thing at once: what makes an encoder or decoder, whose scratch has no lock, safe to
/// hand from thread to thread.
package struct ExclusiveUse: ~Copyable {
    private let busy = Atomic(false)

    /// Begins a use. A use already under way is a programming error.
    package func begin() {
        precondition(
            !busy.exchange(true, ordering: .acquiring),
            "An encoder or decoder is for one thread at a time: give each worker its own."
        )
    }

    /// Ends the use.
    package func end() { busy.store(false, ordering: .releasing) }
}
