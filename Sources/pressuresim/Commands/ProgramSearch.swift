import Foundation
import Glibc

/// Whether a program is there to be started.
enum ProgramSearch {
    /// As the shell looks for it: at its path, or in the directories of `PATH`.
    static func finds(
        _ program: String,
        path: String = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    ) -> Bool {
        let candidates = program.contains("/") ? [program] : path.split(separator: ":").map { "\($0)/\(program)" }
        return candidates.contains { candidate in
            var status = stat()
            // The string outlives both calls.
            guard unsafe stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
            return unsafe access(candidate, X_OK) == 0
        }
    }
}
