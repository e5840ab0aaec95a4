import Foundation
import PressureKit

/// A directory that stands for `/`, with a /proc and a /sys of a test's own. Removed at the end.
final class FakeRoot {
    let path: String

    /// Creates the root with files by path, such as `"/proc/self/cgroup"`.
    init(_ files: [String: String] = [:]) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "pk-root-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try write(name, text) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// What sources are opened with to look here.
    var context: SignalContext {
        var context = SignalContext()
        context.root = path
        context.environment = [:]
        return context
    }

    /// Writes a file in place, so that those who have it open see it.
    func write(_ name: String, _ text: String) throws {
        let url = URL(fileURLWithPath: path + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Removes a file or a directory with all that is in it.
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + name) }

    /// Lets a name stand for a directory of the real system.
    func link(_ name: String, to target: String) throws {
        let url = URL(fileURLWithPath: path + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
    }

    /// Puts the process into a cgroup of version 2, mounted where systemd does.
    func enterUnified(_ cgroup: String) throws {
        try write("/proc/self/cgroup", "0::\(cgroup)\n")
        try write(
            "/proc/self/mountinfo",
            "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
        )
    }

    /// Makes a cgroup of version 2.
    func makeUnified(
        _ cgroup: String,
        current: Int,
        max: String,
        high: String = "max",
        inactive: Int = 0,
        active: Int = 0
    )
        throws
    {
        let directory = "/sys/fs/cgroup" + cgroup
        try write(directory + "/memory.current", "\(current)\n")
        try write(directory + "/memory.max", max + "\n")
        try write(directory + "/memory.high", high + "\n")
        try write(
            directory + "/memory.stat",
            "anon 1\nfile 2\ninactive_anon 3\ninactive_file \(inactive)\nactive_file \(active)\n"
        )
    }

    /// Puts the process into a cgroup of version 1.
    func enterLegacy(_ cgroup: String) throws {
        try write("/proc/self/cgroup", "4:cpu,cpuacct:/x\n7:memory:\(cgroup)\n0::/\n")
        try write(
            "/proc/self/mountinfo",
            "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
        )
    }

    /// Makes a cgroup of version 1.
    func makeLegacy(_ cgroup: String, usage: Int, limit: String, inactive: Int = 0, above: Int? = nil) throws {
        let directory = "/sys/fs/cgroup/memory" + cgroup
        try write(directory + "/memory.usage_in_bytes", "\(usage)\n")
        try write(directory + "/memory.limit_in_bytes", limit + "\n")
        let limitAbove = above ?? Int.max / 4096 * 4096
        try write(
            directory + "/memory.stat",
            """
            cache 1
            inactive_file 7
            hierarchical_memory_limit \(limitAbove)
            hierarchical_memsw_limit 5
            total_cache 3
            total_inactive_file \(inactive)

            """
        )
    }
}
