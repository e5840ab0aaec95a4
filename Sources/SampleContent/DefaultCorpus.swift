import Foundation

/// Files that every machine with a Swift toolchain has: libraries, modules, interfaces, headers, documentation.
///
/// A mix of what compresses well and badly, and enough of it: some 3 GB in a toolchain.
package enum DefaultCorpus {
    /// The directories to look in, best first; only those that exist.
    package static func directories(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        exists: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
    ) -> [String] {
        let toolchain = toolchain(environment: environment, exists: exists).map { ["\($0)/lib/swift", "\($0)/share"] }
        let candidates = (toolchain ?? []).filter(exists)
        // Without a toolchain, what any Linux system has.
        return candidates.isEmpty ? ["/usr/lib", "/usr/share"].filter(exists) : candidates
    }

    /// The `usr` directory of the toolchain whose `swift` is first in `PATH`.
    private static func toolchain(environment: [String: String], exists: (String) -> Bool) -> String? {
        for directory in (environment["PATH"] ?? "").split(separator: ":") {
            let swift = "\(directory)/swift"
            guard exists(swift) else { continue }
            let binary = URL(fileURLWithPath: swift).resolvingSymlinksInPath()
            let usr = binary.deletingLastPathComponent().deletingLastPathComponent().path
            if exists("\(usr)/lib/swift") { return usr }
        }
        return nil
    }
}
