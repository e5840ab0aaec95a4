import CAllocationCounter
import Foundation
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals

/// The kernel itself, with a limit of 200 MiB: warning begins at a usage of 160 MiB, critical at 170 MiB.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: RealCgroup.isUsable, RealCgroup.comment))
struct LegacyCgroupTests {
    private static let limit = ByteCount.mebibytes(200)

    /// What a monitor saw, and a mark for each step.
    private final class Witness: Sendable {
        private let samples = Lock<[PressureMonitor.Sample]>([])
        private let loop: EventLoop

        init() throws { loop = try EventLoop() }

        func note(_ observation: PressureMonitor.Observation) {
            guard case .sample(let sample) = observation else { return }
            samples.withLock { $0.append(sample) }
            loop.wake()
        }

        var all: [PressureMonitor.Sample] { samples.withLock { $0 } }

        /// Waits for a step after which `isReached` holds of all.
        func wait(until isReached: ([PressureMonitor.Sample]) -> Bool) -> [PressureMonitor.Sample] {
            while true {
                let all = all
                if isReached(all) { return all }
                _ = loop.wait(upTo: .seconds(20))
            }
        }
    }

    @Test func theKernelNotifiesAtTheCrossingWhileTheMonitorSleeps() throws {
        let cgroup = try RealCgroup(limit: Self.limit)
        let root = try cgroup.root()
        let sponge = try cgroup.sponge(most: .mebibytes(180))
        let source = try CgroupSource(context: root.context)
        let witness = try Witness()
        let monitor = try PressureMonitor(sources: [source], observe: { witness.note($0) }, deliver: { _ in })
        try monitor.start()
        defer { monitor.stop() }
        _ = witness.wait { !$0.isEmpty }
        #expect(source.statuses.first { $0.source.hasSuffix(cgroup.name) }?.state == .armed)

        // All at once, while the monitor sleeps for five seconds. What it then sees is a fast fall, or a short headroom.
        sponge.write(Data(count: 166 << 20))
        let samples = witness.wait { samples in samples.contains { $0.decision != nil } }
        let crossing = try #require(samples.firstIndex { $0.decision != nil })
        let woken = (1...crossing).filter { index in
            samples[index - 1].nextPoll >= .seconds(4)
                && samples[index].at - samples[index - 1].at < .seconds(4)
        }
        #expect(!woken.isEmpty, "some step came long before the sleep before it was over")
        let status = try #require(source.statuses.first { $0.source.hasSuffix(cgroup.name) })
        #expect(status.state == .verified, "\(status)")
        let cause = try #require(samples[crossing].decision?.cause)
        #expect(cause.origin == .cgroup)
        #expect(cause.limit == Self.limit)
        #expect(cause.source.hasSuffix(cgroup.name))

        sponge.write(Data(count: 8 << 20))
        _ = witness.wait { samples in samples.contains { $0.decision?.level == .critical } }
    }

    /// Pitfall 12, and the design's "no cry": page cache fills the limit, and nothing is said.
    @Test func pageCacheAtTheLimitIsNoShortage() throws {
        let cgroup = try RealCgroup(limit: .mebibytes(64))
        let root = try cgroup.root()
        let file = FileManager.default.temporaryDirectory.appending(path: "pk-stream-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let source = try CgroupSource(context: root.context)
        let witness = try Witness()
        let monitor = try PressureMonitor(sources: [source], observe: { witness.note($0) }, deliver: { _ in })
        try monitor.start()
        defer { monitor.stop() }
        // Each piece is on the disk before the next: what a slow disk has not taken yet cannot be given back.
        let writer = try cgroup.run("exec dd if=/dev/zero of=\(file.path) bs=1M count=256 oflag=dsync 2>/dev/null")
        writer.process.waitUntilExit()
        let count = witness.all.count
        monitor.wake()
        let samples = witness.wait { $0.count > count }
        let usage = try String(contentsOfFile: cgroup.memory + "/memory.usage_in_bytes", encoding: .utf8)
        let used = try #require(Int(usage.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(used > 56 << 20, "the cache is there, and would be over every threshold")
        #expect(samples.allSatisfy { $0.decision == nil })
        #expect(monitor.level == .normal)
    }

    /// P10 where page cache fills the limit, as it does in most containers; and a shortage is noticed all the same.
    @Test func aCgroupFullOfPageCacheSleepsTooAndNotifiesWhenItIsNot() throws {
        let cgroup = try RealCgroup(limit: Self.limit)
        let root = try cgroup.root()
        let file = FileManager.default.temporaryDirectory.appending(path: "pk-full-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let writer = try cgroup.run("exec dd if=/dev/zero of=\(file.path) bs=1M count=300 conv=fsync 2>/dev/null")
        writer.process.waitUntilExit()
        let source = try CgroupSource(context: root.context)
        let witness = try Witness()
        let monitor = try PressureMonitor(sources: [source], observe: { witness.note($0) }, deliver: { _ in })
        try monitor.start()
        defer { monitor.stop() }
        let first = try #require(witness.wait { !$0.isEmpty }.first)
        #expect(first.nextPoll == .seconds(5))
        #expect(source.statuses.contains { $0.detail.contains("page cache") && $0.state == .armed })

        let sponge = try cgroup.sponge(most: .mebibytes(180))
        sponge.write(Data(count: 172 << 20))
        let samples = witness.wait { samples in samples.contains { $0.decision != nil } }
        let crossing = try #require(samples.firstIndex { $0.decision != nil })
        let woken = (1...crossing).filter { index in
            samples[index - 1].nextPoll >= .seconds(4)
                && samples[index].at - samples[index - 1].at < .seconds(4)
        }
        #expect(!woken.isEmpty, "some step came long before the sleep before it was over")
    }

    @Test func aLowerLimitIsSeenAndHasItsOwnMarks() throws {
        let cgroup = try RealCgroup(limit: Self.limit)
        let root = try cgroup.root()
        let source = try CgroupSource(context: root.context)
        let loop = try EventLoop()
        source.attach(to: loop)
        defer { source.detach(from: loop) }
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: 0), into: &readings, from: 0)
        #expect(source.statuses.contains { $0.detail.contains("160.0 MiB, 170.0 MiB and 19") })
        try Data("104857600".utf8).write(to: URL(fileURLWithPath: cgroup.memory + "/memory.limit_in_bytes"))
        source.sample(at: MonotonicInstant(nanoseconds: 1), into: &readings, from: 0)
        #expect(readings.compactMap { $0?.headroom?.limit } == [.mebibytes(100)])
        #expect(source.statuses.contains { $0.detail.contains("80.0 MiB, 85.0 MiB and 9") })
        #expect(loop.watchCount == 1)
    }

    /// The kernel takes 15 to 70 ms for each mark, in which the monitor would see nothing.
    @Test func marksAreArmedOnceForALimit() throws {
        let cgroup = try RealCgroup(limit: Self.limit)
        let root = try cgroup.root()
        let loop = try EventLoop()
        var notifier = UsageNotifier(directory: cgroup.memory)
        defer { notifier.disarm(from: loop) }
        func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }
        func marks(used: Int, reclaimable: Int) -> UsageMarks {
            let usage = CgroupUsage(used: .mebibytes(used), reclaimable: .mebibytes(reclaimable), limit: Self.limit)
            return UsageMarks(usage, thresholds: root.context.thresholds)
        }
        func isArmed(_ wanted: UsageMarks, _ limit: ByteCount, at milliseconds: Int64) -> Bool {
            notifier.arm(wanted, of: limit, on: loop, at: at(milliseconds))
        }
        let low = marks(used: 10, reclaimable: 0)
        #expect(isArmed(low, Self.limit, at: 0))
        #expect(notifier.marks.isSafe)
        let behindWarning = marks(used: 165, reclaimable: 0)
        #expect(behindWarning.warning == nil && behindWarning.critical != nil)
        #expect(!isArmed(behindWarning, Self.limit, at: 1), "the one that is wanted hangs")
        let cached = marks(used: 175, reclaimable: 30)
        #expect(!isArmed(cached, Self.limit, at: 2))
        #expect(!notifier.marks.isSafe, "so that it is looked at as often as without marks")
        #expect(!isArmed(cached, Self.limit, at: 1_000), "nothing to change")
        #expect(!isArmed(low, Self.limit, at: 1_500))
        #expect(notifier.marks.isSafe)
        let lower = UsageMarks(
            CgroupUsage(used: .mebibytes(10), reclaimable: .zero, limit: .mebibytes(100)),
            thresholds: root.context.thresholds
        )
        #expect(isArmed(lower, .mebibytes(100), at: 1_501), "another limit has its own at once")
    }

    @Test func aCgroupThatIsRemovedLeavesNoDescriptorBehindThatNotifies() throws {
        let cgroup = try RealCgroup(limit: Self.limit)
        let root = try cgroup.root()
        let source = try CgroupSource(context: root.context)
        let loop = try EventLoop()
        source.attach(to: loop)
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: 0), into: &readings, from: 0)
        #expect(loop.watchCount == 1, "without page cache there is nothing to reclaim")
        cgroup.remove(cgroup.memory)
        _ = loop.wait(upTo: .seconds(20))
        for second in 1...3 {
            let now = MonotonicInstant(nanoseconds: Int64(second) * 6_000_000_000)
            source.sample(at: now, into: &readings, from: 0)
        }
        #expect(readings.allSatisfy { $0?.headroom == nil })
        #expect(loop.watchCount == 0)
        source.detach(from: loop)
    }

    /// P10, with a limit of 200 MiB: polled, it would be looked at many times a second.
    @Test func aCalmCgroupIsLookedAtEveryFiveSecondsAndNothingIsAllocated() throws {
        let cgroup = try RealCgroup(limit: Self.limit)
        let root = try cgroup.root()
        try root.write("/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n")
        try root.write("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        let clock = ManualClock()
        let sources = try PressureSource.automatic.open(in: root.context)
        let loop = try EventLoop()
        for source in sources { source.attach(to: loop) }
        let monitor = try PressureMonitor(sources: sources, clock: clock) { _ in }
        for _ in 0..<30 { clock.advance(by: monitor.tick()) }
        let start = clock.now()
        var steps = 0
        let before = pk_thread_allocations()
        while clock.now() - start < .seconds(600) {
            clock.advance(by: monitor.tick())
            steps += 1
        }
        #expect(pk_thread_allocations() - before == 0)
        #expect(steps <= 120, "0.2 a second")
        #expect(monitor.level == .normal)
        for source in sources { source.detach(from: loop) }
        #expect(loop.watchCount == 0)
    }
}
