import Testing

@testable import PressureKit
@testable import PressureSignals

/// What of the page cache is headroom.
@Suite struct CgroupUsageTests {
    /// `memory.stat` as Linux 6.18 writes it in version 2, shortened to what a writer of files changes, in a cgroup of
    /// 256 MiB whose process has just written 60 MiB.
    private static let unified = """
        anon 103415808
        file 146800640
        kernel 2478080
        kernel_stack 65536
        pagetables 704512
        sec_pagetables 0
        percpu 0
        sock 0
        vmalloc 0
        shmem 4096
        file_mapped 0
        file_dirty 20971520
        file_writeback 20971520
        swapcached 0
        inactive_anon 103395328
        active_anon 20480
        inactive_file 104857600
        active_file 41938944
        unevictable 0
        slab_reclaimable 1048576
        workingset_refault_file 512
        pgfault 30212

        """

    /// The same in version 1, with what those below have beside what is its own.
    private static let legacy = """
        cache 0
        rss 0
        rss_huge 0
        shmem 0
        mapped_file 0
        dirty 7
        writeback 9
        swap 0
        pgpgin 0
        inactive_anon 0
        active_anon 0
        inactive_file 11
        active_file 13
        unevictable 0
        hierarchical_memory_limit 268435456
        hierarchical_memsw_limit 9223372036854771712
        total_cache 146800640
        total_rss 103415808
        total_mapped_file 0
        total_dirty 20971520
        total_writeback 20971520
        total_inactive_file 104857600
        total_active_file 41938944

        """

    /// Of 100 MiB inactive and half of 40 MiB active, 20 MiB are dirty and 20 MiB under way.
    private static let reclaimable = ByteCount(bytes: 104_857_600 + 41_938_944 / 2 - 20_971_520 - 20_971_520)

    @Test func whatIsDirtyOrUnderWriteBackIsNoHeadroomInVersion2() throws {
        let root = try FakeRoot()
        try root.makeUnified("/app", current: 255 << 20, max: "\(256 << 20)")
        try root.write("/sys/fs/cgroup/app/memory.stat", Self.unified)
        let level = try UnifiedLevel(directory: root.path + "/sys/fs/cgroup/app")
        #expect(level.usage()?.reclaimable == Self.reclaimable)
    }

    @Test func whatIsDirtyOrUnderWriteBackIsNoHeadroomInVersion1() throws {
        let root = try FakeRoot()
        try root.makeLegacy("/app", usage: 255 << 20, limit: "\(256 << 20)")
        try root.write("/sys/fs/cgroup/memory/app/memory.stat", Self.legacy)
        let level = try LegacyLevel(directory: root.path + "/sys/fs/cgroup/memory/app")
        #expect(level.usage()?.reclaimable == Self.reclaimable)
    }

    @Test(arguments: [
        (0, 0, 0, 0), (10, 0, 0, 10), (10, 6, 0, 13), (10, 6, 4, 9), (10, 6, 13, 0), (10, 6, 100, 0),
    ])
    func itIsNeverLessThanNothing(inactive: Int, active: Int, unwritten: Int, expected: Int) {
        let found = CgroupUsage.reclaimable(
            inactiveFile: inactive,
            activeFile: active,
            unwritten: unwritten,
            limit: .mebibytes(1)
        )
        #expect(found == ByteCount(bytes: expected))
    }

    /// "No cry": a stream that makes all of the page cache dirty takes no more than a fifth of the headroom.
    @Test func aStreamOfWritesIsNoShortage() {
        let found = CgroupUsage.reclaimable(inactiveFile: 900, activeFile: 100, unwritten: 1000, limit: .bytes(1000))
        #expect(found == .bytes(750))
    }

    /// What is not available for not being written is told apart: it comes back by itself.
    @Test func whatIsUnwrittenIsNotLostForGood() {
        let usage = CgroupUsage(used: 950, inactiveFile: 600, activeFile: 100, unwritten: 300, limit: .bytes(1000))
        let wanted = Headroom(
            available: .bytes(500),
            limit: .bytes(1000),
            unwritten: .bytes(200),
            kept: .bytes(50),
            pageCache: .bytes(450)
        )
        #expect(usage.headroom == wanted)
        #expect(usage.headroom?.eventual == .bytes(700))
        #expect(usage.headroom?.leftByOthers == .bytes(750), "page cache is nobody's growth")
    }
}
