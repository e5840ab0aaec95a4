import SystemPackage

/// One factory per system call: the call's error number becomes a code and a sentence with the remedy.
extension PressureError {
    /// `pthread_create(3)` failed.
    static func threadUnavailable(name: String, errno: CInt) -> PressureError {
        PressureError(
            code: .threadUnavailable,
            message: """
                No thread for "\(name)": \(Errno(rawValue: errno)). Raise the process limit (ulimit -u) or the \
                container's pids limit.
                """,
            errno: errno
        )
    }
}

// Signals and the monitor.
extension PressureError {
    /// `epoll_create1(2)`, `eventfd(2)` or `epoll_ctl(2)` failed.
    static func eventLoopUnavailable(call: String, errno: CInt) -> PressureError {
        PressureError(
            code: .signalUnavailable,
            message: """
                The pressure monitor has nothing to wait on: \(call): \(Errno(rawValue: errno)). Raise the limit on open \
                files (ulimit -n) or close descriptors that are not needed.
                """,
            errno: errno
        )
    }

    /// `open(2)` of a file under /proc failed.
    static func signalFileUnavailable(path: String, errno: CInt) -> PressureError {
        PressureError(
            code: .signalUnavailable,
            message: """
                \(path) cannot be opened: \(Errno(rawValue: errno)). Mount /proc in this container or chroot, or leave \
                this source out of the configuration.
                """,
            errno: errno
        )
    }
}
