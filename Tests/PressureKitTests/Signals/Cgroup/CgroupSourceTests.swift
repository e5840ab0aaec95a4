import CAllocationCounter
import PressureKit
import PressureKitTesting
import Testing

/// Cgroups made of plain files.
@Suite struct CgroupSourceTests {
    private static func readings(_ source: CgroupSource, at seconds: Int = 0) -> [SignalReading] {
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000), into: &readings, from: 0)
        return readings.compactMap { $0 }
    }

    private static func left(_ source: CgroupSource, at seconds: Int = 0) -> [Int] {
        readings(source, at: seconds).compactMap { $0.headroom?.available.bytes }
    }

    @Test func everyLimitAboveIsMeasuredAgainstTheWorkingSet() throws {
        let root = try FakeRoot()
        try root.enterUnified("/slice/app")
        try root.makeUnified("/slice/app", current: 700, max: "max", inactive: 100)
        try root.makeUnified("/slice", current: 900, max: "1000", inactive: 50)
        let source = try CgroupSource(context: root.context)
        let readings = Self.readings(source)
        #expect(
            readings.map(\.headroom) == [Headroom(available: .bytes(150), limit: .bytes(1000), pageCache: .bytes(50))]
        )
        #expect(readings.first?.source == root.path + "/sys/fs/cgroup/slice")
        #expect(readings.first?.origin == .cgroup)
    }

    /// Half of what was used lately: a process that writes files is not short.
    @Test func pageCacheCountsForMostOfWhatItIs() throws {
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.makeUnified("/app", current: 1000, max: "1000", inactive: 100, active: 600)
        #expect(Self.left(try CgroupSource(context: root.context)) == [400])
    }

    /// Pitfall 10: above `memory.high` a process is slowed down until it stands still.
    @Test func memoryHighIsALimitToo() throws {
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.makeUnified("/app", current: 700, max: "1000", high: "800")
        #expect(Self.left(try CgroupSource(context: root.context)) == [100])
    }

    @Test func limitsThatChangeAreSeenWithTheNextSample() throws {
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.makeUnified("/app", current: 700, max: "max")
        let source = try CgroupSource(context: root.context)
        #expect(Self.readings(source).isEmpty)
        try root.write("/sys/fs/cgroup/app/memory.max", "800\n")
        #expect(Self.left(source) == [100])
        try root.write("/sys/fs/cgroup/app/memory.max", "max\n")
        #expect(Self.readings(source).map(\.measure) == [.demand(.normal, freeing: nil)], "the vote is taken back")
    }

    @Test func versionOneCountsTheWholeSubtreeAndIgnoresSwap() throws {
        let root = try FakeRoot()
        try root.enterLegacy("/job")
        try root.makeLegacy("/job", usage: 900, limit: "1000", inactive: 300)
        #expect(Self.left(try CgroupSource(context: root.context)) == [400])
    }

    /// Pitfall 11: "unlimited" is a huge number.
    @Test(arguments: ["9223372036854771712", "9223372036854775807", "18446744073709551615", "-1"])
    func theHugeNumberMeansNoLimit(limit: String) throws {
        let root = try FakeRoot()
        try root.enterLegacy("/job")
        try root.makeLegacy("/job", usage: 900, limit: limit)
        #expect(Self.readings(try CgroupSource(context: root.context)).isEmpty)
    }

    @Test func aLimitOfACgroupThatCannotBeSeenBindsAsWell() throws {
        let root = try FakeRoot()
        try root.enterLegacy("/job")
        try root.makeLegacy("/job", usage: 900, limit: "9223372036854771712", above: 1000)
        #expect(Self.left(try CgroupSource(context: root.context)) == [100])
    }

    @Test func aHybridHostIsMeasuredWhereItsMemoryIs() throws {
        let root = try FakeRoot()
        try root.enterLegacy("/job")
        try root.write(
            "/proc/self/mountinfo",
            """
            41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
            35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory

            """
        )
        try root.makeLegacy("/job", usage: 900, limit: "1000")
        try root.write("/sys/fs/cgroup/unified/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        #expect(Self.left(try CgroupSource(context: root.context)) == [100])
    }

    @Test func aMoveIsNoticedWithinFiveSecondsAndAtOnceWhenTheOldCgroupIsGone() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a")
        try root.makeUnified("/a", current: 700, max: "1000")
        try root.makeUnified("/b", current: 100, max: "1000")
        try root.makeUnified("/c", current: 50, max: "1000")
        let source = try CgroupSource(context: root.context)
        #expect(Self.left(source, at: 1) == [300])
        try root.enterUnified("/b")
        #expect(Self.left(source, at: 2) == [300], "not yet")
        #expect(Self.left(source, at: 7) == [900])
        #expect(Self.readings(source, at: 7).first?.source == root.path + "/sys/fs/cgroup/b")
        try root.enterUnified("/c")
        try root.write("/sys/fs/cgroup/b/memory.current", "")
        #expect(Self.left(source, at: 8) == [])
        #expect(Self.left(source, at: 9) == [950])
    }

    @Test func withoutAMemoryControllerItIsUnavailableAndSaysWhatToDo() throws {
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.write("/sys/fs/cgroup/app/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        let error = try #require(throws: PressureError.self) { try CgroupSource(context: root.context) }
        #expect(error.code == .signalUnavailable)
        #expect(error.message.contains("memory controller"))
    }

    /// Plain files have no `cgroup.event_control`.
    @Test func marksThatAreRefusedAreNotAskedForAgain() throws {
        let root = try FakeRoot()
        try root.enterLegacy("/job")
        try root.makeLegacy("/job", usage: 300, limit: "1000")
        let source = try CgroupSource(context: root.context)
        let loop = try EventLoop()
        source.attach(to: loop)
        #expect(Self.readings(source).map(\.isWatched) == [false])
        #expect(loop.watchCount == 0)
        let status = try #require(source.statuses.first { $0.source.hasSuffix("/job") })
        #expect(status.state == .available)
        #expect(status.detail.contains("No such file"))
        #expect(status.remedy != nil)
        source.detach(from: loop)
    }

    /// The kernel takes its time to answer, in which a process that has just begun would see nothing.
    @Test func theKernelIsAskedToWatchOnceTheFirstSamplesAreTaken() throws {
        let root = try FakeRoot()
        try root.enterLegacy("/job")
        try root.makeLegacy("/job", usage: 300, limit: "1000")
        var context = root.context
        context.watchesAfter = .nanoseconds(500)
        let source = try CgroupSource(context: context)
        let loop = try EventLoop()
        source.attach(to: loop)
        defer { source.detach(from: loop) }
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        func isAsked(at nanoseconds: Int64) -> Bool {
            source.sample(at: MonotonicInstant(nanoseconds: nanoseconds), into: &readings, from: 0)
            // Plain files have no `cgroup.event_control`, which shows only when they are asked.
            return source.statuses.contains { $0.detail.contains("No such file") }
        }
        #expect(!isAsked(at: 1000) && readings.contains { $0?.headroom != nil })
        #expect(!isAsked(at: 1499))
        #expect(isAsked(at: 1500))
    }

    @Test func aCalmSampleAllocatesNothing() throws {
        let root = try FakeRoot()
        try root.enterUnified("/slice/app")
        try root.makeUnified("/slice/app", current: 700, max: "max")
        try root.makeUnified("/slice", current: 100, max: "1000")
        let source = try CgroupSource(context: root.context)
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: 0), into: &readings, from: 0)
        let before = pk_thread_allocations()
        for second in 1...100 {
            source.sample(at: MonotonicInstant(nanoseconds: Int64(second) * 6_000_000_000), into: &readings, from: 0)
        }
        #expect(pk_thread_allocations() - before == 0)
        #expect(readings.compactMap { $0?.headroom }.count == 1)
    }

    /// Two limits with the same part left, of which only one is short: 20 % of a terabyte is no shortage.
    @Test func eachLimitIsHeldAgainstItsOwnThresholds() throws {
        let root = try FakeRoot()
        try root.enterUnified("/slice/app")
        try root.makeUnified("/slice/app", current: 850 << 20, max: "\(1000 << 20)")
        try root.makeUnified("/slice", current: 900 << 30, max: "\(1000 << 30)")
        let monitor = try PressureMonitor(sources: [try CgroupSource(context: root.context)], clock: ManualClock()) {
            _ in
        }
        monitor.tick()
        let votes = monitor.votes
        #expect(votes.count == 2)
        #expect(monitor.headroom?.limit == .mebibytes(1000))
    }
}
