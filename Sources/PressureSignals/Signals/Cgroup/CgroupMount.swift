/// A place where a tree of cgroups can be seen, as /proc/self/mountinfo tells: see proc_pid_mountinfo(5). Pure.
package struct CgroupMount: Hashable, Sendable {
    /// Which tree it is.
    package enum Tree: Hashable, Sendable {
        /// Version 2.
        case unified
        /// The one of version 1 with the memory controller.
        case memory
    }

    /// Which tree is seen.
    package var tree: Tree
    /// The cgroup that is seen at the mount point; not `/` where a container gets only its own part of the tree.
    package var root: String
    /// Where it is mounted.
    package var point: String

    /// Creates a mount.
    package init(tree: Tree, root: String = "/", point: String) {
        self.tree = tree
        self.root = root
        self.point = point
    }

    /// Reads all lines, `id parent device root point options [more…] - type source options`, of which only the mounts of
    /// cgroups matter. What is mounted over in the same place is left out. Lines of another form are passed over.
    ///
    /// - Parameter controller: the one of version 1 that is looked for, as ``Tree/memory``.
    package static func parse(_ text: some Collection<UInt8>, controller: String = "memory") -> [CgroupMount] {
        var mounts: [CgroupMount] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "))
            guard let dash = fields.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash >= 6,
                fields.count >= dash + 4
            else { continue }
            let point = OctalEscapes.decoded(fields[4])
            mounts.removeAll { $0.point == point }
            guard let tree = tree(type: fields[dash + 1], options: fields[dash + 3], controller) else { continue }
            mounts.append(CgroupMount(tree: tree, root: OctalEscapes.decoded(fields[3]), point: point))
        }
        return mounts
    }

    private static func tree(
        type: some Collection<UInt8>,
        options: some Collection<UInt8>,
        _ controller: String
    ) -> Tree? {
        if type.elementsEqual("cgroup2".utf8) { return .unified }
        guard type.elementsEqual("cgroup".utf8) else { return nil }
        let hasIt = options.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(controller.utf8) }
        return hasIt ? .memory : nil
    }
}
