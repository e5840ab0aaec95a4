import Foundation
import PressureKitTesting
import Testing

@testable import PressureKit
@testable import PressureSignals

@Suite struct StallSourceTests {
    private static let calm = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 total=0\n"

    private static func scopes(_ source: StallSource, at seconds: Int = 0) -> [StallReading.Scope] {
        readings(source, at: seconds).map(\.scope)
    }

    private static func readings(_ source: StallSource, at seconds: Int = 0) -> [StallReading] {
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000), into: &readings, from: 0)
        return readings.compactMap { reading in
            guard case .stall(let stall)? = reading?.measure else { return nil }
            return stall
        }
    }

    private static func tree(_ cgroups: [String], host: String? = calm) throws -> FakeRoot {
        let root = try FakeRoot()
        try root.enterUnified(cgroups[0])
        for cgroup in cgroups {
            try root.write("/sys/fs/cgroup\(cgroup)/memory.pressure", calm)
            try root.write("/sys/fs/cgroup\(cgroup)/cgroup.type", "domain\n")
        }
        if let host { try root.write("/proc/pressure/memory", host) }
        return root
    }

    @Test func ownCgroupThoseAboveAndTheHostHavePlaces() throws {
        let root = try Self.tree(["/a/b", "/a"])
        try root.write("/sys/fs/cgroup/memory.pressure", Self.calm)
        let source = try StallSource(context: root.context)
        #expect(Self.scopes(source) == [.own, .above, .host], "the root of the tree is the host, and has no type")
    }

    @Test func noMoreThanThreeAboveAreWatched() throws {
        let root = try Self.tree(["/a/b/c/d/e/f", "/a/b/c/d/e", "/a/b/c/d", "/a/b/c", "/a/b", "/a"])
        #expect(Self.scopes(try StallSource(context: root.context)) == [.own, .above, .above, .above, .host])
    }

    @Test func withoutStallsItIsUnavailable() throws {
        let root = try FakeRoot()
        try root.enterUnified("/a")
        let error = try #require(throws: PressureError.self) { try StallSource(context: root.context) }
        #expect(error.code == .signalUnavailable)
        #expect(error.message.contains("/proc/pressure/memory"))
    }

    /// Pitfall 6, as far as files can play it: the file is there, and there is nothing in it.
    @Test func aFileThatCountsNothingIsUnavailable() throws {
        let root = try Self.tree(["/a"], host: "")
        try root.remove("/sys/fs/cgroup/a/memory.pressure")
        let error = try #require(throws: PressureError.self) { try StallSource(context: root.context) }
        #expect(error.message.contains("nothing about stalls"))
    }

    /// Pitfall 6: how Red Hat's kernels come.
    @Test func aKernelThatDoesNotCountSaysHowToSwitchItOn() {
        let error = PressureError.stallsNotCounted(path: "/proc/pressure/memory", errno: EOPNOTSUPP)
        #expect(error.code == .signalUnavailable)
        #expect(error.message.contains("psi=1"))
    }

    /// Pitfall 7: what cannot be written can still be read.
    @Test func withoutTriggersTheTotalsAreReadAndTheReasonIsTold() throws {
        let root = try Self.tree(["/a"])
        let source = try StallSource(context: root.context)
        let loop = try EventLoop()
        source.attach(to: loop)
        defer { source.detach(from: loop) }
        #expect(Self.readings(source).allSatisfy { !$0.isArmed })
        #expect(source.statuses.map(\.state) == [.available, .available])
        #expect(source.statuses.allSatisfy { $0.detail.contains("no trigger") }, "\(source.statuses)")
        #expect(loop.watchCount == 0)
    }

    @Test func aMoveIsFollowed() throws {
        let root = try Self.tree(["/a", "/b"])
        let source = try StallSource(context: root.context)
        #expect(Self.scopes(source) == [.own, .host])
        try root.enterUnified("/b")
        try root.write("/sys/fs/cgroup/b/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n")
        #expect(Self.readings(source, at: 6).first?.totals.some == 77)
    }

    @Test(arguments: [
        (Duration.seconds(2), [1000, 2000, 4000, 6000, 8000, 10_000]),
        (.milliseconds(500), [500, 2000, 4000, 6000, 8000, 10_000]),
        (.seconds(10), [5000, 10_000, 2000, 4000, 6000, 8000]),
    ])
    func windowsAreTriedPrivilegedOnesFirst(wanted: Duration, milliseconds: [Int64]) {
        #expect(StallTrigger.windows(around: wanted).map { $0.nanoseconds / 1_000_000 } == milliseconds)
    }
}

/// The kernel's own triggers.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: RealCgroup.isUsable, RealCgroup.comment))
struct RealStallTests {
    private static func source(_ cgroup: RealCgroup) throws -> (source: StallSource, root: FakeRoot) {
        let root = try cgroup.root()
        return (try StallSource(context: root.context), root)
    }

    /// Pitfalls 1, 3 and 4: the terminating NUL, a window that this process may have, one trigger to a descriptor.
    @Test func triggersAreArmedWithAWindowThatTheKernelTakes() throws {
        let cgroup = try RealCgroup(limit: .mebibytes(64))
        let (source, root) = try Self.source(cgroup)
        let loop = try EventLoop()
        source.attach(to: loop)
        #expect(loop.watchCount == 3, "two levels and a earlyTrigger")
        let status = try #require(source.statuses.first)
        #expect(status.state == .armed)
        source.detach(from: loop)
        #expect(loop.watchCount == 0)
        withExtendedLifetime(root) {}
    }

    @Test func anArmedTriggerIsQuietWhileNobodyWaits() throws {
        let cgroup = try RealCgroup(limit: .mebibytes(64))
        let (source, root) = try Self.source(cgroup)
        let loop = try EventLoop()
        source.attach(to: loop)
        defer { source.detach(from: loop) }
        _ = loop.wait(upTo: .milliseconds(50))
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: 0), into: &readings, from: 0)
        guard case .stall(let stall)? = readings.compactMap({ $0 }).first?.measure else {
            Issue.record("no reading")
            return
        }
        #expect(stall.isArmed)
        #expect(!stall.hasFired)
        withExtendedLifetime(root) {}
    }

    /// A file that is read over and over in a cgroup that cannot hold it: the kernel notifies, and the growth proves it.
    @Test func realWaitingNotifiesAndIsProven() throws {
        let cgroup = try RealCgroup(limit: .mebibytes(12))
        let (source, root) = try Self.source(cgroup)
        let file = FileManager.default.temporaryDirectory.appending(path: "pk-thrash-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let heard = Lock<[PressureDecision]>([])
        let loop = try EventLoop()
        let monitor = try PressureMonitor(sources: [source]) { decision in
            heard.withLock { $0.append(decision) }
            loop.wake()
        }
        try monitor.start()
        defer { monitor.stop() }
        try cgroup.run(
            """
            dd if=/dev/zero of=\(file.path) bs=1M count=48 conv=fsync 2>/dev/null && \
            exec sh -c 'while :; do cat \(file.path) \(file.path) >/dev/null; done'
            """
        )
        while heard.withLock({ $0.isEmpty }) { _ = loop.wait(upTo: .seconds(30)) }
        let cause = try #require(heard.withLock { $0.first?.cause })
        #expect(cause.origin == .stall)
        #expect(cause.source.hasSuffix(cgroup.name + "/memory.pressure"))
        guard case .stalled(let time, _, let threshold)? = cause.evidence else {
            Issue.record("no evidence in \(cause)")
            return
        }
        #expect(time >= threshold)
        // What was polled may be seen before the notification is heard.
        let clock = SystemClock()
        let end = clock.now() + .seconds(30)
        while source.statuses.first?.state != .verified, clock.now() < end { _ = loop.wait(upTo: .milliseconds(50)) }
        #expect(source.statuses.first?.state == .verified, "\(source.statuses)")
        withExtendedLifetime(root) {}
    }

    /// Pitfall 5: a trigger whose cgroup is gone reports events for ever, so it is closed; and armed again where the process is.
    @Test func aTriggerThatHasEndedIsClosedAndArmedAgainElsewhere() throws {
        let old = try RealCgroup(limit: .mebibytes(64))
        let new = try RealCgroup(limit: .mebibytes(64))
        let (source, root) = try Self.source(old)
        let loop = try EventLoop()
        source.attach(to: loop)
        defer { source.detach(from: loop) }
        #expect(loop.watchCount == 3, "two levels and a earlyTrigger")
        old.remove(old.unified)
        while loop.watchCount > 0 { _ = loop.wait(upTo: .seconds(20)) }
        try root.write("/proc/self/cgroup", "4:memory:/\(new.name)\n0::/\(new.name)\n")
        var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
        source.sample(at: MonotonicInstant(nanoseconds: 6_000_000_000), into: &readings, from: 0)
        #expect(loop.watchCount == 3, "two levels and a earlyTrigger")
        #expect(source.statuses.first?.source.hasSuffix(new.name + "/memory.pressure") ?? false)
    }

    /// Pitfalls 8 and 5 together: the event files of cgroups notify with EPOLLERR each time, and reading the watched
    /// descriptor is what quiets them. `cgroup.events` stands for `memory.events`, which takes a controller.
    @Test func cgroupEventFilesNotifyWithAnErrorThatIsNone() throws {
        final class Reader: EventReceiver {
            let descriptor: CInt
            let events = Lock<[EventLoop.Event]>([])
            init(_ descriptor: CInt) { self.descriptor = descriptor }
            func receive(_ event: EventLoop.Event) {
                events.withLock { $0.append(event) }
                read()
            }
            func read() {
                var byte = [UInt8](repeating: 0, count: 256)
                _ = unsafe pread(descriptor, &byte, byte.count, 0)
            }
        }
        let cgroup = try RealCgroup(limit: .mebibytes(64))
        let handle = try #require(FileHandle(forReadingAtPath: cgroup.unified + "/cgroup.events"))
        let reader = Reader(handle.fileDescriptor)
        reader.read()
        let loop = try EventLoop()
        #expect(loop.watch(handle.fileDescriptor, for: .urgent, tag: 7, receiver: reader))
        _ = loop.wait(upTo: .zero)
        #expect(reader.events.withLock { $0.isEmpty })
        try cgroup.run("exec cat >/dev/null")
        while reader.events.withLock({ $0.isEmpty }) { _ = loop.wait(upTo: .seconds(20)) }
        #expect(reader.events.withLock { $0.first } == EventLoop.Event(tag: 7, failed: true))
        reader.events.withLock { $0 = [] }
        _ = loop.wait(upTo: .zero)
        #expect(reader.events.withLock { $0.isEmpty }, "read, so quiet")
        loop.unwatch(handle.fileDescriptor)
    }

    /// Version 2 has no memory controller to test with here: `cgroup.events` notifies in the place of `memory.events`.
    @Test func aUnifiedCgroupFullOfPageCacheSleepsUntilItsEventsRing() throws {
        let cgroup = try RealCgroup(limit: .mebibytes(64))
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.makeUnified("/app", current: 1000 << 20, max: "\(1000 << 20)", inactive: 600 << 20)
        try root.link("/sys/fs/cgroup/app/memory.events", to: cgroup.unified + "/cgroup.events")
        let source = try CgroupSource(context: root.context)
        let loop = try EventLoop()
        source.attach(to: loop)
        defer { source.detach(from: loop) }
        func sample(at seconds: Int64) -> SignalReading? {
            var readings: [SignalReading?] = Array(repeating: nil, count: source.width)
            source.sample(at: MonotonicInstant(nanoseconds: seconds * 1_000_000_000), into: &readings, from: 0)
            return readings.compactMap { $0 }.first
        }
        #expect(sample(at: 0)?.isWatched == true)
        #expect(loop.watchCount == 1)
        try cgroup.run("exec cat >/dev/null")
        while loop.watchCount > 0 { _ = loop.wait(upTo: .seconds(20)) }
        #expect(sample(at: 1)?.isWatched == false, "for two seconds it is polled")
        #expect(sample(at: 2)?.isWatched == false)
        #expect(sample(at: 4)?.isWatched == true)
        _ = loop.wait(upTo: .zero)
        #expect(loop.watchCount == 1, "read, so quiet")
        // With less cache than warning begins with, usage could be short the moment it meets the limit.
        try root.makeUnified("/app", current: 600 << 20, max: "\(1000 << 20)", inactive: 100 << 20)
        #expect(sample(at: 5)?.isWatched == false)
    }
}
