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
