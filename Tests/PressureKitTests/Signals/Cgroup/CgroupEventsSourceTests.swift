import CAllocationCounter
import PressureKit
import PressureKitTesting
import Testing

@Suite struct CgroupEventsSourceTests {
    private static let text = "low 9\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 5\n"

    private static func counters(_ source: CgroupEventsSource, at seconds: Int = 0) -> [EventCounters] {
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000), into: &readings, from: 0)
        return readings.compactMap { reading in
            guard case .events(let counters)? = reading?.measure else { return nil }
            return counters
        }
    }

    @Test(arguments: [
        (text, EventCounters(high: 1, max: 2, oom: 3, oomKill: 4)),
        ("max 7", EventCounters(max: 7)),
        ("high 1\nhigh 2\nmaximum 3\noom_kill x\n", EventCounters(high: 1)),
    ])
    func countersAreReadByName(text: String, counters: EventCounters) {
        #expect(EventCounters.parse(Array(text.utf8).span) == counters)
    }

    @Test(arguments: ["", "low 1\noom 2\n", "highmax 1", "populated 1\nfrozen 0\n"])
    func aFileOfAnotherKindSaysNothing(text: String) { #expect(EventCounters.parse(Array(text.utf8).span) == nil) }

    @Test func ownEventsAreReadWhereTheyAreNotMixedWithThoseBelow() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a/b")
        try root.write("/sys/fs/cgroup/a/b/memory.events", Self.text)
        try root.write("/sys/fs/cgroup/a/b/memory.events.local", "high 0\nmax 5\noom 0\noom_kill 0\n")
        let source = try CgroupEventsSource(context: root.context)
        #expect(Self.counters(source) == [EventCounters(max: 5)])
        #expect(source.statuses.map(\.source) == [root.path + "/sys/fs/cgroup/a/b/memory.events.local"])
    }

    /// Before Linux 5.2 the counters of a cgroup above have strangers' ends in them.
    @Test func strangersEndsAreNotOurs() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a/b")
        try root.write("/sys/fs/cgroup/a/b/memory.events", Self.text)
        try root.write("/sys/fs/cgroup/a/memory.events", Self.text)
        let source = try CgroupEventsSource(context: root.context)
        #expect(
            Self.counters(source) == [
                EventCounters(high: 1, max: 2, oom: 3, oomKill: 4), EventCounters(high: 1, max: 2),
            ]
        )
    }

    @Test func withoutAControllerItIsUnavailable() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a")
        let error = try #require(throws: PressureError.self) { try CgroupEventsSource(context: root.context) }
        #expect(error.code == .signalUnavailable)
    }

    /// Plain files cannot be waited on; they are read all the same.
    @Test func whatCannotBeWaitedOnIsPolled() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a")
        try root.write("/sys/fs/cgroup/a/memory.events", Self.text)
        let source = try CgroupEventsSource(context: root.context)
        let loop = try EventLoop()
        source.attach(to: loop)
        #expect(loop.watchCount == 0)
        #expect(source.statuses.map(\.state) == [.available])
        try root.write("/sys/fs/cgroup/a/memory.events", "high 2\nmax 2\noom 3\noom_kill 4\n")
        #expect(Self.counters(source).first?.high == 2)
        source.detach(from: loop)
    }

    @Test func aCalmSampleAllocatesNothing() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a")
        try root.write("/sys/fs/cgroup/a/memory.events", Self.text)
        let source = try CgroupEventsSource(context: root.context)
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: 0), into: &readings, from: 0)
        let before = pk_thread_allocations()
        for second in 1...50 {
            source.sample(at: MonotonicInstant(nanoseconds: Int64(second) * 6_000_000_000), into: &readings, from: 0)
        }
        #expect(pk_thread_allocations() - before == 0)
    }
}
