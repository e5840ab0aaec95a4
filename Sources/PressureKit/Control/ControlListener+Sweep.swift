import CLinuxShims
import Glibc
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

    private static func isGone(_ process: Int32) -> Bool { kill(process, 0) != 0 && errno == ESRCH }
}
