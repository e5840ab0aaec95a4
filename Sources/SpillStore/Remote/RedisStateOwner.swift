#if Redis
import Glibc

/// Who has a saved state: what its lock says. Each manager is one, for as long as it lives.
package struct RedisStateOwner: Hashable, Sendable {
    package let host: String
    package let pid: Int
    /// Unlike any other's.
    private let chance: String

    /// This process, as one that no other manager is.
    package init() {
        host = Self.hostName
        pid = Int(getpid())
        chance = String(UInt64.random(in: .min ... .max), radix: 36)
    }

    /// Reads what a lock says; `nil` for what this library has not written.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, let pid = Int(words[1]) else { return nil }
        host = String(words[0])
        self.pid = pid
        chance = String(words[2])
    }

    /// What the lock says.
    package var text: String { "\(host) \(pid) \(chance)" }

    /// Who it is, for people.
    package static func name(_ text: String) -> String {
        RedisStateOwner(text).map { "process \($0.pid) on \($0.host)" } ?? "\"\(text.prefix(100))\""
    }

    /// The name of this host; empty where it has none.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        // As long as the array, whose last element stays 0.
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
#endif
