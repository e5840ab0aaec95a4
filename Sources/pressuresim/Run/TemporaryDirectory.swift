import Foundation
import Glibc
import PressureKit

/// A directory of the tool's own for a while: for saved states, and for files of values.
struct TemporaryDirectory: Hashable, Sendable {
    let path: String

    /// Makes one, after those are removed that runs which were killed have left there.
    ///
    /// - Parameter option: the option that names another place.
    /// - Throws: ``EnvironmentRefusal`` when there can be none.
    init(in base: String, option: String) throws(EnvironmentRefusal) {
        Self.sweep(base)
        path = "\(base)/\(Maker.own.prefix)\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        // The string outlives the call. Nobody else is to look into it.
        guard unsafe mkdir(path, 0o700) == 0 else {
            let reason = FileDescriptorOutput.Errno(code: errno)
            throw EnvironmentRefusal(message: "\(base) cannot be written to: \(reason). Name another with \(option).")
        }
    }

    /// Removes it with all that is in it.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Removes what runs that were killed have left in a directory. Only what is this user's: in `/var/tmp` anybody can
    /// make a directory of such a name.
    static func sweep(_ base: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? [] {
            guard let maker = Maker(of: name), maker.isGone else { continue }
            let path = "\(base)/\(name)"
            var status = stat()
            // The string outlives the call; a link is not followed.
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid()
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Where the tool makes them, if nobody names a place.
    static let usualPlace = "/var/tmp"
}
