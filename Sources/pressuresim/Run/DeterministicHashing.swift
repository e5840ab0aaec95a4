import Foundation
import PressureKit

/// Virtual time wants hashes that are the same in every process: a keyed cache has its values in parts by their keys'
/// hashes, and each part has an order of its own.
///
/// Swift seeds its hashing anew in every process, unless the environment says otherwise when the process starts:
/// `SWIFT_DETERMINISTIC_HASHING`, as the standard library's documentation of `Hasher` describes. So the tool starts itself
/// once more, in this process, with that set.
enum DeterministicHashing {
    private static let variable = "SWIFT_DETERMINISTIC_HASHING"

    /// Returns if hashes are the same in every process; else replaces the process by one in which they are.
    ///
    /// - Throws: ``EnvironmentRefusal`` when the tool cannot be started again.
    static func ensure() throws(EnvironmentRefusal) {
        guard ProcessInfo.processInfo.environment[variable] == nil else { return }
        // Nobody else reads the environment yet.
        unsafe setenv(variable, "1", 1)
        // strdup(3)'s strings live until execv(3) replaces the process, or for the rest of it.
        var arguments = unsafe CommandLine.arguments.map { unsafe strdup($0) } + [nil]
        // `arguments` ends with nil, as execv(3) asks.
        _ = unsafe execv("/proc/self/exe", &arguments)
        throw EnvironmentRefusal(
            message:
                "The tool could not be started again: \(unsafe String(cString: strerror(errno))). Set \(variable)=1."
        )
    }
}
