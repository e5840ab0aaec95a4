/// The directories of the cgroups that a process is in, as far as they can be seen: its own first, then those above, up
/// to where the tree is mounted. Limits of all of them bind.
package struct CgroupLayout: Hashable, Sendable {
    /// No more directories of a tree are kept: the process's own and those next to it.
    package static let deepest = 12

    /// Directories of version 2.
    package var unified: [String]
    /// Directories of version 1's memory controller.
    package var memory: [String]

    /// Creates a layout.
    package init(unified: [String] = [], memory: [String] = []) {
        self.unified = unified
        self.memory = memory
    }

    /// Finds the directories. Pure, but for `exists`.
    ///
    /// A path that does not lie below what is mounted, or is not there, is one of another namespace's: then the mount
    /// point stands for the process's own cgroup, as it does in containers.
    ///
    /// - Parameters:
    ///   - exists: Whether there is a directory of this name.
    package init(_ membership: CgroupMembership, mounts: [CgroupMount], exists: (String) -> Bool) {
        unified = Self.directories(membership.unified, mounts.filter { $0.tree == .unified }, exists)
        memory = Self.directories(membership.memory, mounts.filter { $0.tree == .memory }, exists)
    }

    private static func directories(_ path: String?, _ mounts: [CgroupMount], _ exists: (String) -> Bool) -> [String] {
        guard let path else { return [] }
        // The mount that shows most of the tree first.
        for mount in mounts.sorted(by: { $0.root.utf8.count < $1.root.utf8.count }) {
            guard let parts = parts(of: path, below: mount.root) else { continue }
            let directories = climb(from: mount.point, parts)
            if exists(directories[0]) { return Array(directories.prefix(deepest)) }
        }
        guard let mount = mounts.first(where: { exists($0.point) }) else { return [] }
        return [mount.point]
    }

    /// The names from `root` down to `path`; `nil` when it does not lie there. A namespace shows what is outside of it
    /// as `/..`.
    private static func parts(of path: String, below root: String) -> [Substring]? {
        let parts = path.split(separator: "/")
        let above = root.split(separator: "/")
        guard parts.starts(with: above), !parts.contains(".."), !above.contains("..") else { return nil }
        return Array(parts.dropFirst(above.count))
    }

    private static func climb(from point: String, _ parts: [Substring]) -> [String] {
        let base = point == "/" ? "" : point
        return (0...parts.count).reversed().map { count in
            let directory = ([base] + parts.prefix(count).map(String.init)).joined(separator: "/")
            return directory.isEmpty ? "/" : directory
        }
    }
}
