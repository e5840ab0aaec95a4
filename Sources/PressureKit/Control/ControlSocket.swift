import Glibc

/// Whether, and where, a manager that runs can be spoken to from outside the process, as `pressuresim warn`, `status`,
/// `evict`, `background` and `foreground` do.
///
/// It is a Unix socket of mode 0600. Only processes of the same user, and root, are listened to; the kernel says who they
/// are. Nothing that is cached is ever told, only names of controllers and caches, bytes and counts. The socket is there
/// while ``PressureManager/run()`` runs, and is served by the monitor's thread: nobody on the other end can hold up the
/// watching, or have memory grow.
///
/// The protocol is for people as well, with `socat - UNIX-CONNECT:PATH`: a command a line, and one line of JSON for an
/// answer.
///
/// | command | answer |
/// |---|---|
/// | `status` | `status`: level, cause, headroom, bytes by tier, counts, signals, controllers with their caches |
/// | `warn [warning\|critical] [BYTES]` | `report`, when the reclaim has ended; like ``PressureManager/simulateMemoryWarning(_:freeing:)`` |
/// | `evict BYTES` | `report`; like ``PressureManager/reclaim(_:)`` |
/// | `background` | `report`; like ``PressureManager/enterBackground(within:)`` |
/// | `foreground` | `report`; like ``PressureManager/enterForeground()`` |
///
/// Every answer has `protocol` (1) and `ok`; one that refuses has `error` (`unknownCommand`, `wrongArgument`,
/// `lineTooLong`, `busy`, `denied` or `shutDown`) and a `message` for a person. BYTES is a plain number. Commands of one
/// connection are carried out one after the other, so read an answer before you send much more: who does not read is cut
/// off. At most 8 connections are kept; a ninth takes the place of the one that was silent longest.
public enum ControlSocket: Hashable, Sendable {
    /// There is none, unless the environment variable `PRESSUREKIT_CONTROL` asks for it: the default.
    ///
    /// Empty or `1` is ``automatic``, `0` is ``off``, all else is a path. That a socket asked for in this way cannot be
    /// had is logged, and not an error.
    case environment
    /// There is none, whatever the environment says.
    case off
    /// One that `pressuresim` finds by the process's number: `PID.sock` in the directory `pressurekit` of
    /// `$XDG_RUNTIME_DIR`, else of `/run/user/UID`, else in `/tmp/pressurekit-UID`. The directory is made with mode 0700.
    /// It is passed over if it is a link, belongs to somebody else or can be used by others. What processes that were killed
    /// have left there is removed.
    case automatic
    /// One at this path, of 107 bytes at most. What a process that has ended left there is replaced; what a living one
    /// listens at, or is no socket, is not.
    case path(String)

    /// The variable that asks for a socket.
    package static let variable = "PRESSUREKIT_CONTROL"

    /// Where to listen; `nil` for nowhere.
    ///
    /// - Parameters:
    ///   - environment: the variables that count.
    ///   - user: whose process it is.
    ///   - process: the process's number.
    package func place(
        environment: [String: String],
        user: UInt32 = geteuid(),
        process: Int32 = getpid()
    ) -> ControlPlace? {
        let named = ControlPlace.automatic(environment: environment, user: user, process: process)
        switch self {
        case .off: return nil
        case .path(let path): return ControlPlace(path: path)
        case .automatic: return named
        case .environment:
            switch environment[Self.variable] {
            case nil, "0": return nil
            case "", "1": return named
            case let path?: return ControlPlace(path: path)
            }
        }
    }
}
