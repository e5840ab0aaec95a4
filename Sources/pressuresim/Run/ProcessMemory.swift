import Foundation
import PressureKit

/// What the kernel says about memory, read by the tool itself: the witness for what the library claims.
enum ProcessMemory {
    /// `VmRSS` of `/proc/self/status`: the process's memory that is in RAM.
    static var resident: ByteCount { field("VmRSS", of: "/proc/self/status") ?? .zero }

    /// `VmHWM`: the most that ever was.
    static var peak: ByteCount { field("VmHWM", of: "/proc/self/status") ?? .zero }

    /// `MemAvailable` of `/proc/meminfo`.
    static var available: ByteCount? { field("MemAvailable", of: "/proc/meminfo") }

    /// `MemTotal` of `/proc/meminfo`.
    static var total: ByteCount? { field("MemTotal", of: "/proc/meminfo") }

    /// What is left of the container's own limit, where there is one: `/proc/meminfo` does not know it.
    static var containerAvailable: ByteCount? {
        let places = [
            ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
        ]
        for (limitFile, usageFile) in places {
            // "max", and cgroup v1's number near 2^63, are no limits.
            if let limit = number(in: limitFile), limit < 1 << 60, let usage = number(in: usageFile) {
                return .bytes(max(limit - usage, 0))
            }
        }
        return nil
    }

    /// A line `Name:   1234 kB`.
    static func field(_ name: String, of path: String) -> ByteCount? {
        guard let text = text(path) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("\(name):") {
            let number = line.dropFirst(name.count + 1).split(whereSeparator: \.isWhitespace).first
            return number.flatMap { Int($0) }.map(ByteCount.kibibytes)
        }
        return nil
    }

    private static func number(in path: String) -> Int? {
        text(path).flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    private static func text(_ path: String) -> String? {
        // Files in /proc have no size, so they are read to their end.
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.readToEnd() else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
