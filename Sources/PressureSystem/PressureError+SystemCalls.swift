import SystemPackage

/// One factory per way to fail that no system call is behind.
extension PressureError {
    package static func noValue(path: String) -> PressureError {
        PressureError(
            code: .noValue,
            message: "The cache has no loader and no value. Set one, or register the cache with a loader.",
            path: path
        )
    }

    package static func recursiveAccess(path: String) -> PressureError {
        PressureError(
            code: .recursiveAccess,
            message: """
                This thread is already loading or changing the value, and would wait for itself. A loader must not \
                read its own cache, and `update` must not read or change the cache it is updating.
                """,
            path: path
        )
    }
}

/// Loaders that read other caches.
extension PressureError {
    /// - Parameter paths: each waits for the next, and the last for the first.
    package static func circularLoads(_ paths: [String]) -> PressureError {
        PressureError(
            code: .recursiveAccess,
            message: """
                Loaders wait for each other in a circle, and would for ever: \(chain(paths + paths.prefix(1))). A loader \
                must not read its own value, nor one whose loader reads it, in a task that it starts either.
                """,
            path: paths.first ?? ""
        )
    }

    /// - Parameter paths: each waits for the next.
    package static func loadersTooDeep(_ paths: [String]) -> PressureError {
        PressureError(
            code: .recursiveAccess,
            message: """
                Loaders wait for each other \(paths.count) deep, each on a thread of its own: \(chain(paths)). If there is \
                an end to it, have a loader read with calls that are not async, which stay on its thread, or make the \
                caches' loaders async, which hold no thread.
                """,
            path: paths.last ?? ""
        )
    }

    private static func chain(_ paths: [String]) -> String { paths.joined(separator: " → ") }
}

/// The tree of controllers.
extension PressureError {
    package static func hierarchyInconsistency(_ message: String, path: String) -> PressureError {
        PressureError(code: .hierarchyInconsistency, message: message, path: path)
    }

    package static func invalidIdentifier(_ identifier: String) -> PressureError {
        PressureError(
            code: .invalidConfiguration,
            message: """
                "\(identifier)" cannot be a controller's identifier: it is a part of paths, so it must not be empty or \
                contain a slash.
                """
        )
    }
}

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
    package static func signalFileUnavailable(path: String, errno: CInt) -> PressureError {
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

// The manager.
extension PressureError {
    /// A manager is asked to run after it was shut down.
    package static let shutDown = PressureError(
        code: .shutDown,
        message: "The manager has been shut down. Create another one to watch memory again."
    )
}
