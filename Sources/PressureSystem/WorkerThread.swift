import CLinuxShims
import Glibc

/// A thread of the library's own, for work that blocks: the cooperative pool must never wait for a disk.
///
/// The thread ends when `body` returns. Nothing joins it: a manager may be released on one of its own threads,
/// and a thread that joins itself never ends.
package enum WorkerThread {
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a detached thread. `name` is shown by tools such as top(1), which cut it at 15 bytes.
    ///
    /// - Throws: ``PressureError`` with code `threadUnavailable` when the system has no thread to give.
    package static func spawn(
        _ name: String,
        body: @escaping @Sendable () -> Void
    ) throws(PressureError) {
        // The thread owns one reference to its start record and releases it as its first act.
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body)).toOpaque()
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                // The one reference `spawn` retained, taken exactly once.
                let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                unsafe pk_name_thread(start.name)
                start.body()
                return nil
            },
            start
        )
        guard status == 0 else {
            // No thread started, so the reference is still ours.
            unsafe Unmanaged<Start>.fromOpaque(start).release()
            throw .threadUnavailable(name: name, errno: status)
        }
        pthread_detach(thread)
    }
}
