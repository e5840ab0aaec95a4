import Foundation

/// A directory of one's own on a real disk.
struct RealDirectory: Sendable {
    let path: String

    init() throws {
        path = "/var/tmp/pressurekit-fault-\(UInt64.random(in: 0 ... .max))"
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false,
            attributes: attributes
        )
    }

    /// The names in it, of which nobody but a saved state has any.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// In a process of its own: ends it with a status that the test sees, and says why.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    if let path = ProcessInfo.processInfo.environment["PRESSUREKIT_WHY"] {
        try? message().write(toFile: path, atomically: true, encoding: .utf8)
    }
    FileHandle.standardError.write(Data("\(message())\n".utf8))
    exit(1)
}

/// How many descriptors this process has open.
var openDescriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0 }
