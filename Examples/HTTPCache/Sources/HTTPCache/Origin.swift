import Synchronization

/// What an HTTP client would be in a real server: it answers after 5 ms, and holds no thread meanwhile. In this process, so
/// that the example needs no network.
final class Origin: Sendable {
    struct NotFound: Error {
        let path: String
    }

    private let served = Mutex<[String: Int]>([:])

    /// How often each path was asked for.
    var requests: [String: Int] { served.withLock { $0 } }

    /// What is at a path.
    func get(_ path: String) async throws -> [UInt8] {
        served.withLock { $0[path, default: 0] += 1 }
        try await Task.sleep(for: .milliseconds(5))
        guard path.hasPrefix("/pages/") else { throw NotFound(path: path) }
        return [UInt8](repeating: UInt8(ascii: "x"), count: 4096) + path.utf8
    }
}
