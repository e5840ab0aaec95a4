/// Where a process is in the trees of cgroups, as /proc/self/cgroup tells: see cgroups(7). Pure.
package struct CgroupMembership: Hashable, Sendable {
    /// Its path in the unified tree (version 2); `nil` where the kernel has none.
    package var unified: String?
    /// Its path in the tree of version 1 that has the memory controller; `nil` where version 2 has it, or nobody.
    package var memory: String?

    /// Creates a membership.
    package init(unified: String? = nil, memory: String? = nil) {
        self.unified = unified
        self.memory = memory
    }

    /// Reads lines `hierarchy:controllers:path`, in any order; a path may have colons. Lines of another form are passed
    /// over, and of two that say the same the first counts.
    ///
    /// - Parameter controller: the one of version 1 that is looked for, in ``memory``.
    package init(parsing text: some Collection<UInt8>, controller: String = "memory") {
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[2].first == UInt8(ascii: "/") else { continue }
            let path = String(decoding: fields[2], as: UTF8.self)
            if fields[1].isEmpty {
                if fields[0].elementsEqual("0".utf8) { unified = unified ?? path }
            } else if fields[1].split(separator: UInt8(ascii: ",")).contains(where: {
                $0.elementsEqual(controller.utf8)
            }) {
                memory = memory ?? path
            }
        }
    }
}
