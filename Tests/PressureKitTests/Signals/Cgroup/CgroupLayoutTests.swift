import PressureKit
import PressureKitTestSupport
import Testing

/// Where the process's cgroups are, from nothing but text.
@Suite struct CgroupLayoutTests {
    private static let slice = "/system.slice/app.service"

    /// Text of /proc/self/cgroup, and what is read in it: version 2 and version 1.
    @Test(
        arguments: [
            ("0::/a/b\n", "/a/b", nil),
            ("4:memory:/docker/abc\n0::/system.slice\n", "/system.slice", "/docker/abc"),
            ("0::/u\n4:memory:/m\n", "/u", "/m"),
            ("12:cpu,cpuacct:/\n11:blkio,memory:/m\n1:name=systemd:/s\n", nil, "/m"),
            ("3:memory:/with:colons:in it\n", nil, "/with:colons:in it"),
            ("0::/first\n0::/second\n", "/first", nil),
            ("1:name=memory:/no\n5:memories:/no\n", nil, nil),
            ("", nil, nil),
            ("0:\n::\n0::relative\nnonsense\n0::/ok", "/ok", nil),
        ] as [(String, String?, String?)]
    )
    func aMembershipIsReadInAnyOrder(text: String, unified: String?, memory: String?) {
        #expect(CgroupMembership(parsing: Array(text.utf8)) == CgroupMembership(unified: unified, memory: memory))
    }

    @Test func mountsAreFoundAmongOthersAndUnescaped() {
        let text = """
            22 27 0:21 / /proc rw,relatime - proc proc rw
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
            32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:1 master:2 - cgroup cgroup rw,cpu
            35 31 0:32 /docker/a\\040b /sys/fs/cgroup/memory ro,relatime shared:3 - cgroup cgroup ro,memory
            41 31 0:38 / /sys/fs/tab\\011and\\134 rw shared:5 propagate_from:2 - cgroup2 cgroup2 rw
            broken line
            9 9 0:9 / /nodash rw cgroup2 cgroup2 rw

            """
        #expect(
            CgroupMount.parse(Array(text.utf8)) == [
                CgroupMount(tree: .memory, root: "/docker/a b", point: "/sys/fs/cgroup/memory"),
                CgroupMount(tree: .unified, point: "/sys/fs/tab\tand\\"),
            ]
        )
    }

    @Test func whatIsMountedOverIsNotSeen() {
        let text = """
            30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
            31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw

            """
        #expect(CgroupMount.parse(Array(text.utf8)).isEmpty)
    }

    private static func layout(
        _ membership: CgroupMembership,
        _ mounts: [CgroupMount],
        missing: Set<String> = []
    ) -> CgroupLayout {
        CgroupLayout(membership, mounts: mounts) { !missing.contains($0) }
    }

    @Test func allCgroupsAboveAreFoundTheOwnFirst() {
        let layout = Self.layout(
            CgroupMembership(unified: Self.slice),
            [CgroupMount(tree: .unified, point: "/sys/fs/cgroup")]
        )
        #expect(
            layout.unified == [
                "/sys/fs/cgroup/system.slice/app.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup",
            ]
        )
        #expect(layout.memory.isEmpty)
    }

    @Test func aHybridHostHasBothTrees() {
        let layout = Self.layout(
            CgroupMembership(unified: "/u", memory: "/m"),
            [
                CgroupMount(tree: .memory, point: "/sys/fs/cgroup/memory"),
                CgroupMount(tree: .unified, point: "/sys/fs/cgroup/unified"),
            ]
        )
        #expect(layout.unified == ["/sys/fs/cgroup/unified/u", "/sys/fs/cgroup/unified"])
        #expect(layout.memory == ["/sys/fs/cgroup/memory/m", "/sys/fs/cgroup/memory"])
    }

    /// A container of version 1: the path is the host's, and only the container's part is mounted.
    @Test func theMountedPartOfTheTreeIsTakenOff() {
        let mount = CgroupMount(tree: .memory, root: "/docker/abc", point: "/sys/fs/cgroup/memory")
        let below = Self.layout(CgroupMembership(memory: "/docker/abc/job"), [mount])
        #expect(below.memory == ["/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/memory"])
        let itself = Self.layout(CgroupMembership(memory: "/docker/abc"), [mount])
        #expect(itself.memory == ["/sys/fs/cgroup/memory"])
        let namesake = Self.layout(CgroupMembership(memory: "/docker/abcdef"), [mount])
        #expect(namesake.memory == ["/sys/fs/cgroup/memory"], "the mount point, for want of better")
    }

    /// Pitfall 11: a path of the host's namespace that is not there below the mount, and one from outside of ours.
    @Test(arguments: ["/kubepods/pod1/abc", "/../../system.slice", "/.."])
    func aPathOfAnotherNamespaceFallsBackToTheMountPoint(path: String) {
        let layout = Self.layout(
            CgroupMembership(unified: path),
            [CgroupMount(tree: .unified, point: "/sys/fs/cgroup")],
            missing: ["/sys/fs/cgroup/kubepods/pod1/abc"]
        )
        #expect(layout.unified == ["/sys/fs/cgroup"])
    }

    @Test func theMountThatShowsMostIsTaken() {
        let layout = Self.layout(
            CgroupMembership(unified: "/a/b"),
            [CgroupMount(tree: .unified, root: "/a", point: "/part"), CgroupMount(tree: .unified, point: "/whole")]
        )
        #expect(layout.unified == ["/whole/a/b", "/whole/a", "/whole"])
    }

    @Test func withoutAMountThereIsNothing() {
        #expect(Self.layout(CgroupMembership(unified: "/a", memory: "/a"), []) == CgroupLayout())
        let hidden = Self.layout(
            CgroupMembership(unified: "/a"),
            [CgroupMount(tree: .unified, point: "/gone")],
            missing: ["/gone", "/gone/a"]
        )
        #expect(hidden == CgroupLayout())
    }

    @Test func theDeepestTreesKeepTheNearestCgroups() {
        let path = (1...40).map { "/\($0)" }.joined()
        let layout = Self.layout(CgroupMembership(unified: path), [CgroupMount(tree: .unified, point: "/m")])
        #expect(layout.unified.count == CgroupLayout.deepest)
        #expect(layout.unified.first == "/m" + path)
    }

    @Test func anyBytesAreSafe() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let alphabet = Array("0:/ -cgroup2memory,\\01\n".utf8)
            let text = (0..<200).map { _ in alphabet.randomElement(using: &random)! }
            let membership = CgroupMembership(parsing: text)
            let mounts = CgroupMount.parse(text) + [CgroupMount(tree: .unified, point: "/m")]
            _ = CgroupLayout(membership, mounts: mounts) { _ in Bool.random(using: &random) }
        }
    }
}
