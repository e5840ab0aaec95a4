import Glibc

/// Where a control socket may be: one path, or the first of several that can be had.
package struct ControlPlace: Hashable, Sendable {
    /// A name in a directory of the user's own.
    package struct Candidate: Hashable, Sendable {
        /// The directory, which is made with mode 0700; `nil` for a path that was given.
        package var directory: String?
        /// The socket.
        package var path: String
    }

    /// In order of preference; never empty.
    package var candidates: [Candidate]

    /// A path that was given. Its directory is somebody else's business, but is looked at.
    package init(path: String) { candidates = [Candidate(directory: nil, path: path)] }

    private init(directories: [String], process: Int32) {
        candidates = directories.map { Candidate(directory: $0, path: "\($0)/\(process).sock") }
    }

    /// Where the socket of a process is when no path was given.
    ///
    /// - Parameters:
    ///   - environment: the process's variables, of which `XDG_RUNTIME_DIR` counts if it is an absolute path.
    ///   - user: whose process it is.
    ///   - process: its number, as it knows it itself.
    package static func automatic(environment: [String: String], user: UInt32, process: Int32) -> ControlPlace {
        var directories: [String] = []
        // A relative path is to be ignored, says the XDG Base Directory Specification.
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            directories.append("\(runtime)/pressurekit")
        }
        directories.append("/run/user/\(user)/pressurekit")
        directories.append("/tmp/pressurekit-\(user)")
        return ControlPlace(directories: directories, process: process)
    }
}
