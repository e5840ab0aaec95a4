import CLinuxShims
import Glibc
import PressureSignals
import PressureSystem

/// Sockets that processes left which were killed.
extension ControlListener {
    /// Removes from a directory of the user's own what processes that are gone have left there. The caller has locked the
    /// directory: nobody is between making a socket and listening at it.
    ///
    /// Nothing here is worth an error: what cannot be removed stays.
    static func sweep(_ directory: String) {
        guard let names = try? LinuxFileSystem().names(in: directory) else { return }
        for name in names.prefix(mostSwept) {
            guard let process = owner(of: name), isGone(process) else { continue }
            // Processes in another namespace look dead from here, so the socket itself is asked too.
            try? clear("\(directory)/\(name)")
        }
    }

    /// As many names are looked at: a start must not take long, and the next one goes on.
    private static let mostSwept = 4096

    /// The number in `"42.sock"`; `nil` for names that are not ours.
    private static func owner(of name: String) -> Int32? {
        guard name.hasSuffix(".sock"), let process = Int32(name.dropLast(5)), process > 0 else { return nil }
        return name == "\(process).sock" ? process : nil
    }

    private static func isGone(_ process: Int32) -> Bool {
        if kill(process, 0) != 0 { return errno == ESRCH }
        // Killed, and nobody has asked how it ended: in many containers the first process asks after none.
        return (try? ProcFile(path: "/proc/\(process)/stat"))?.read { hasEnded($0) } ?? false
    }

    /// Whether this is the state of a process that has ended: one letter, behind the name in parentheses (proc_pid_stat(5)).
    private static func hasEnded(_ text: borrowing Span<UInt8>) -> Bool {
        for index in stride(from: text.count - 3, through: 0, by: -1) where text[index] == UInt8(ascii: ")") {
            return text[index + 2] == UInt8(ascii: "Z") || text[index + 2] == UInt8(ascii: "X")
        }
        return false
    }
}
