import CLinuxShims
import Glibc
import PressureSystem
import SystemPackage

/// A socket that listens at a path of this process's, which is removed with it.
final class ControlListener: Sendable {
    /// Where it is.
    let path: String
    /// What is accepted from.
    let descriptor: CInt
    /// Tells the socket's name from another one that has come in its place.
    private let identity: Identity
    private let process = ProcessMark()

    private struct Identity: Equatable {
        var device: UInt64 = 0
        var inode: UInt64 = 0
        var owner: UInt32 = 0

        /// - Throws: what lstat(2) says; ENOTSOCK for what is no socket.
        init(of path: String) throws(Errno) {
            // The string outlives the call, and the call writes to the three numbers only.
            guard unsafe pk_socket_identity(path, &device, &inode, &owner) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// As many callers may wait to be accepted.
    private static let backlog: CInt = 16

    /// Listens at the first place that can be had. Blocks briefly on the file system.
    ///
    /// - Throws: ``PressureError`` with `controlUnavailable`, about the last place.
    static func open(_ place: ControlPlace) throws(PressureError) -> ControlListener {
        var failure: PressureError?
        for candidate in place.candidates {
            do throws(PressureError) {
                return try ControlListener(candidate)
            } catch {
                failure = error
            }
        }
        throw failure ?? .controlUnavailable("", "there is no place for it", errno: nil)
    }

    private init(_ candidate: ControlPlace.Candidate) throws(PressureError) {
        let path = candidate.path
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .controlUnavailable(path, "this is no path", errno: nil)
        }
        guard path.utf8.count <= Int(pk_longest_socket_path()) else {
            throw .controlUnavailable(
                path,
                "the path has \(path.utf8.count) bytes, and a socket's may have \(pk_longest_socket_path())",
                errno: ENAMETOOLONG
            )
        }
        let directory = try Self.openDirectory(candidate)
        defer { close(directory) }
        // Between looking at what is there and taking its place nobody else may do the same.
        guard pk_lock_briefly(directory) == 0 else {
            throw .controlUnavailable(path, "its directory is locked by somebody else", errno: errno)
        }
        try Self.clear(path)
        if let directory = candidate.directory { Self.sweep(directory) }
        let descriptor = unsafe pk_listen_unix(path, Self.backlog)
        guard descriptor >= 0 else { throw .controlUnavailable(path, "it cannot be made", errno: errno) }
        do {
            identity = try Identity(of: path)
        } catch {
            _ = close(descriptor)
            throw .controlUnavailable(path, "it was taken away at once", errno: error.rawValue)
        }
        self.path = path
        self.descriptor = descriptor
        // One that runs no manager would keep the socket open for whoever asks.
        pk_close_in_children(descriptor)
    }

    deinit {
        // In a child of fork(2) it is closed already, and the name is its parent's.
        guard process.isThisProcess else { return }
        if let now = try? Identity(of: path), now == identity { _ = unsafe unlink(path) }
        pk_close_shared(descriptor)
    }

    private static func openDirectory(_ candidate: ControlPlace.Candidate) throws(PressureError) -> CInt {
        if let directory = candidate.directory {
            let descriptor = unsafe pk_open_private_directory(directory)
            guard descriptor >= 0 else {
                let reason =
                    errno == EEXIST
                    ? "\(directory) is not a directory of this user's alone (mode 0700)"
                    : "\(directory) cannot be used"
                throw .controlUnavailable(candidate.path, reason, errno: errno)
            }
            return descriptor
        }
        let parts = FilePath(candidate.path).removingLastComponent().string
        let directory = parts.isEmpty ? "." : parts
        let descriptor = unsafe pk_open_directory(directory)
        guard descriptor >= 0 else {
            throw .controlUnavailable(candidate.path, "\(directory) cannot be opened", errno: errno)
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            defer { close(descriptor) }
            throw .controlUnavailable(candidate.path, "\(directory) cannot be examined", errno: errno)
        }
        let facts = DirectoryFacts(
            isDirectory: true,
            owner: status.st_uid,
            permissions: status.st_mode & 0o7777,
            magic: 0,
            device: nil
        )
        if let objection = facts.objection(user: geteuid()) {
            close(descriptor)
            throw .controlUnavailable(candidate.path, "\(directory) \(objection)", errno: nil)
        }
        return descriptor
    }

    /// Removes a socket of this user's at which nobody listens any more.
    static func clear(_ path: String) throws(PressureError) {
        let found: Identity
        do {
            found = try Identity(of: path)
        } catch {
            if error == .noSuchFileOrDirectory { return }
            throw .controlUnavailable(path, "the name is taken by something that is no socket", errno: error.rawValue)
        }
        guard found.owner == geteuid() else {
            throw .controlUnavailable(path, "the name is another user's", errno: EEXIST)
        }
        let caller = unsafe pk_connect_unix(path)
        if caller >= 0 { close(caller) }
        // Nobody answers only when nobody is there: EAGAIN is a living process that is busy.
        guard caller < 0, errno == ECONNREFUSED else {
            throw .controlUnavailable(path, "another process listens there", errno: EADDRINUSE)
        }
        guard unsafe unlink(path) == 0 else {
            throw .controlUnavailable(path, "what an earlier process left cannot be removed", errno: errno)
        }
    }
}

extension PressureError {
    /// The control socket cannot be had at a path.
    static func controlUnavailable(_ path: String, _ reason: String, errno: CInt?) -> PressureError {
        let remedy = "Name another path in the configuration or in \(ControlSocket.variable), or switch it off."
        let system = errno.map { ": \(Errno(rawValue: $0))" } ?? ""
        return PressureError(
            code: .controlUnavailable,
            message: "No control socket at \(path): \(reason)\(system). \(remedy)",
            errno: errno
        )
    }
}
