#if Redis
import Glibc

/// What the keys of one generation are called: of one spill file of one process.
///
/// The part in braces is what a cluster chooses the node by, so that all of them are on one.
package struct RedisKeys: Hashable, Sendable {
    /// What all keys begin with.
    package let prefix: String
    /// Unlike any other's: of the host's boot, the process, and chance.
    package let generation: String

    package init(prefix: String, generation: String) {
        self.prefix = prefix
        self.generation = generation
    }

    /// Those of a new generation. Reads a file; allocates.
    package init(prefix: String) {
        // Eight digits of a random number that the kernel makes when it boots; without /proc chance has to do.
        let boot = Self.firstLine(of: "/proc/sys/kernel/random/boot_id")?.prefix(8) ?? "00000000"
        let chance = String(UInt64.random(in: .min ... .max), radix: 36)
        self.init(prefix: prefix, generation: "\(boot)-\(getpid())-\(chance)")
    }

    /// The key of a segment.
    package func segment(_ number: UInt32) -> String { "\(prefix):{\(generation)}:\(number)" }

    /// A hash that says whose generation it is. It has the lease that the segments have.
    package var about: String { "\(prefix):{\(generation)}:about" }

    /// A sorted set of all generations, by when their leases end.
    package static func registry(prefix: String) -> String { "\(prefix):generations" }

    /// The generation that a key belongs to, and whether it is a segment's; `nil` for other keys.
    package static func parse(_ key: String, prefix: String) -> (keys: RedisKeys, isSegment: Bool)? {
        guard key.hasPrefix("\(prefix):{"), let end = key.lastIndex(of: "}") else { return nil }
        let rest = key[key.index(after: end)...]
        guard rest.first == ":" else { return nil }
        let start = key.index(key.startIndex, offsetBy: prefix.count + 2)
        guard start < end else { return nil }
        let keys = RedisKeys(prefix: prefix, generation: String(key[start..<end]))
        if rest == ":about" { return (keys, false) }
        return UInt32(rest.dropFirst()) == nil ? nil : (keys, true)
    }

    private static func firstLine(of path: String) -> Substring? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe _ = fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        // As long as the array is.
        guard unsafe fgets(&line, CInt(line.count), file) != nil else { return nil }
        return String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            .split(separator: "\n").first
    }
}
#endif
