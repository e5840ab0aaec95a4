/// Where this system keeps the memory controller of its cgroups, and where this process is in it.
///
/// Pure: it reads two texts of the kernel's. The tool looks for itself, so that its idea of a limit owes nothing to the
/// library's.
struct MemoryHierarchy: Hashable, Sendable {
    /// Which files a cgroup has.
    enum Version: Int, Hashable, Sendable {
        case v1 = 1
        case v2
    }

    let version: Version
    /// Where the hierarchy is mounted.
    let mountPoint: String
    /// This process's cgroup below the mount, beginning with a slash; `/` for the mount itself.
    let path: String

    /// This process's cgroup as a directory.
    var directory: String { path == "/" ? mountPoint : mountPoint + path }

    /// Creates one from its parts.
    init(version: Version, mountPoint: String, path: String) {
        self.version = version
        self.mountPoint = mountPoint
        self.path = path
    }

    /// Finds the hierarchy. Version 1 goes first: where its memory controller is mounted, it is the one that counts.
    ///
    /// - Parameters:
    ///   - mounts: `/proc/self/mountinfo`, see proc_pid_mountinfo(5).
    ///   - membership: `/proc/self/cgroup`, see cgroups(7).
    init?(mounts: String, membership: String) {
        let mounts = mounts.split(separator: "\n").compactMap { Mount($0) }
        let groups = membership.split(separator: "\n").compactMap { Membership($0) }
        let legacy = mounts.first { $0.type == "cgroup" && $0.options.contains("memory") }
        if let legacy, let group = groups.first(where: { $0.controllers.contains("memory") }) {
            self.init(version: .v1, mountPoint: legacy.point, path: legacy.visiblePath(of: group.path))
        } else if let unified = mounts.first(where: { $0.type == "cgroup2" }),
            let group = groups.first(where: { $0.controllers == [] })
        {
            self.init(version: .v2, mountPoint: unified.point, path: unified.visiblePath(of: group.path))
        } else {
            return nil
        }
    }
}

/// A line of mountinfo: `31 23 0:28 /root /point rw,relatime shared:1 - cgroup cgroup rw,memory`.
private struct Mount {
    let root: String
    let point: String
    let type: Substring
    let options: [Substring]

    init?(_ line: Substring) {
        let fields = line.split(separator: " ")
        guard let dash = fields.firstIndex(of: "-"), dash >= 6, dash + 3 < fields.count else { return nil }
        root = Self.unescaped(fields[3])
        point = Self.unescaped(fields[4])
        type = fields[dash + 1]
        options = fields[dash + 3].split(separator: ",")
    }

    /// A cgroup's path as it is seen through this mount. In a container whose cgroup is mounted as the root, the kernel
    /// names the path from the host's root.
    func visiblePath(of path: String) -> String {
        if root == "/" || root == path { return root == path ? "/" : path }
        return path.hasPrefix(root + "/") ? String(path.dropFirst(root.count)) : "/"
    }

    /// Blanks, tabs, line ends and backslashes are written as three octal digits.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A line of `/proc/self/cgroup`: `4:memory:/path`, or `0::/path` for version 2.
private struct Membership {
    let controllers: [Substring]
    let path: String

    init?(_ line: Substring) {
        let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        controllers = fields[1].split(separator: ",")
        path = String(fields[2])
    }
}
