import Testing

@testable import pressuresim

@Suite struct MemoryHierarchyTests {
    private static let v1 = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
    private static let v2 = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate"

    @Test func version1GoesFirstOnHybridHosts() {
        let found = MemoryHierarchy(mounts: "\(Self.v2)\n\(Self.v1)\n", membership: "0::/a\n4:memory:/b/c\n1:cpu:/\n")
        #expect(found?.version == .v1)
        #expect(found?.directory == "/sys/fs/cgroup/memory/b/c")
    }

    @Test func version2WhereThereIsNoOther() {
        let found = MemoryHierarchy(mounts: Self.v2, membership: "4:cpu:/x\n0::/user.slice/a b\n")
        #expect(found?.version == .v2)
        #expect(found?.directory == "/sys/fs/cgroup/unified/user.slice/a b")
    }

    @Test func theRootIsTheMountItself() {
        #expect(MemoryHierarchy(mounts: Self.v1, membership: "4:cpu,memory:/")?.directory == "/sys/fs/cgroup/memory")
    }

    /// Docker mounts a container's own cgroup as the root, and `/proc/self/cgroup` still names it from the host's.
    @Test(arguments: [
        ("/docker/1f", "/docker/1f", "/sys/fs/cgroup"),
        ("/docker/1f", "/docker/1f/app", "/sys/fs/cgroup/app"),
        ("/docker/1f", "/elsewhere", "/sys/fs/cgroup"),
        ("/docker/1", "/docker/1f", "/sys/fs/cgroup"),
    ])
    func aMountOfAPartShowsThatPart(root: String, path: String, directory: String) {
        let mount = "9 8 0:1 \(root) /sys/fs/cgroup ro - cgroup cgroup rw,memory"
        #expect(MemoryHierarchy(mounts: mount, membership: "4:memory:\(path)")?.directory == directory)
    }

    @Test func blanksInAMountPointAreUnescaped() {
        let mount = #"9 8 0:1 / /mnt\040x/c\134g rw - cgroup2 none rw"#
        #expect(MemoryHierarchy(mounts: mount, membership: "0::/")?.mountPoint == #"/mnt x/c\g"#)
    }

    @Test(arguments: ["", "\n", "9 8", "9 8 0:1 / /x rw - tmpfs tmpfs rw", "9 8 0:1 / /x rw - cgroup cgroup rw,cpu"])
    func whereNothingIsMountedNothingIsFound(mounts: String) {
        #expect(MemoryHierarchy(mounts: mounts, membership: "4:memory:/\n0::/") == nil)
    }
}
