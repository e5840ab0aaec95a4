#if Redis
import PressureSystem
import SpillStore

/// A saved state on a Redis or Valkey server, by its name: saved on one machine, restored on another.
///
/// ```swift
/// let state = RemoteState("thumbnails", on: .redis(host: "redis", user: "thumbnails", password: password))
/// try await manager.restoreState(from: state, version: "1")
/// try await manager.saveState(to: state, version: "1")
/// ```
///
/// It is the state that `saveState(to:version:)` writes into a directory, byte for byte, and is checked in the same way. It
/// need not be on the server that values are spilled to, and a process with a disk can use it too. As in a directory,
/// restoring leaves it there, until it is saved again.
///
/// Only with the package trait `Redis`. <doc:BeyondOneMachine> says what is promised.
public struct RemoteState: Sendable {
    /// The server. The lease of whoever holds the state, the prefix of its keys and the deadlines are those that it is given
    /// here.
    public var server: RemoteSpill

    /// What the state is called: 1 to 200 bytes, without braces, brackets, `*`, `?`, `\` or blanks.
    public var name: String

    /// How long a state that was saved stays on the server. The default is a day. It has nothing to do with the lease: the
    /// process that saved it may have ended long since.
    public var lifetime: Duration

    /// Names a state. Does not connect: saving and restoring do.
    ///
    /// - Parameters:
    ///   - name: 1 to 200 bytes, without braces, brackets, `*`, `?`, `\` or blanks. Every instance of an app that runs at the
    ///     same time needs one of its own.
    ///   - server: where it is.
    ///   - lifetime: how long it stays there when it was saved, from a second to ten years.
    public init(_ name: String, on server: RemoteSpill, lifetime: Duration = .seconds(86_400)) {
        self.name = name
        self.server = server
        self.lifetime = lifetime
    }

    /// - Throws: ``PressureError`` with `invalidConfiguration` that names the value and what is allowed.
    func validate() throws(PressureError) {
        try server.validate()
        let isName = 1...200 ~= name.utf8.count && !name.utf8.contains { "{}*?[]\\ ".utf8.contains($0) || $0 < 33 }
        guard isName else {
            throw PressureError(
                code: .invalidConfiguration,
                message: """
                    The remote state has the name "\(name.prefix(200))"; it must have 1 to 200 bytes, and no braces, brackets, \
                    *, ?, \\ or blanks.
                    """
            )
        }
        guard lifetime >= .seconds(1), lifetime <= .seconds(10 * 365 * 86_400) else {
            throw PressureError(
                code: .invalidConfiguration,
                message: "The remote state has a lifetime of \(lifetime); it must be between a second and ten years."
            )
        }
    }
}

extension RemoteState: CustomStringConvertible, CustomReflectable {
    /// Its name and where the server is, without user and password.
    public var description: String { "\"\(name)\" on \(server)" }

    /// Nothing: what is printed for debugging ends up in logs.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
