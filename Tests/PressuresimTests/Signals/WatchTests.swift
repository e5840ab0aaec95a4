import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// What is shown, word for word.
@Suite struct WatchFrameTests {
    /// The votes that a real classifier makes of two samples.
    private static let votes: [PressureClassifier.Vote] = {
        var classifier = PressureClassifier(thresholds: PressureThresholds(), sources: 4)
        for (seconds, mebibytes) in [(0, 100), (1, 40)] {
            let now = MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
            let totals = StallTotals(some: 123_456, full: 1000, someAverage: 712)
            let stall = StallReading(totals: totals, scope: .own, isArmed: true, hasFired: false)
            let left = Headroom(available: .mebibytes(mebibytes), limit: .mebibytes(256))!
            let host = Headroom(available: .gibibytes(6), limit: .gibibytes(8))!
            let group = "/sys/fs/cgroup/app"
            func reading(_ origin: PressureCause.Origin, _ source: String, _ measure: SignalReading.Measure)
                -> SignalReading
            {
                SignalReading(origin: origin, source: source, measure: measure, takenAt: now)
            }
            _ = classifier.step(
                [
                    reading(.memoryInfo, "/proc/meminfo", .headroom(host)),
                    reading(.cgroup, group, .headroom(left)),
                    reading(.stall, "\(group)/memory.pressure", .stall(stall)),
                    reading(
                        .events,
                        "\(group)/memory.events",
                        .events(EventCounters(high: 0, max: 3, oom: 0, oomKill: 0))
                    ),
                ],
                at: now
            )
        }
        return (0..<4).map(classifier.vote)
    }()

    private static let frame = WatchFrame(
        elapsed: .milliseconds(12_340),
        level: .warning,
        score: 0.41,
        headroom: Headroom(available: .mebibytes(40), limit: .mebibytes(256)),
        votes: votes,
        history: [
            WatchFrame.Entry(
                at: .seconds(11),
                cause: PressureCause(
                    origin: .cgroup,
                    source: "/sys/fs/cgroup/app",
                    available: .mebibytes(40),
                    limit: .mebibytes(256),
                    threshold: .mebibytes(51),
                    levelBefore: .normal,
                    levelAfter: .warning
                ),
                wanted: .mebibytes(24)
            )
        ]
    )

    @Test func theViewOfATerminal() throws {
        let lines = Self.frame.lines(width: 160, style: .plain)
        try Golden.expect(lines.joined(separator: "\n") + "\n", equals: "watch/terminal.txt")
    }

    @Test func whatDoesNotFitIsCut() {
        for line in Self.frame.lines(width: 40, style: .plain) { #expect(line.count <= 40) }
        #expect(Self.frame.lines(width: 40, style: .plain).contains { $0.hasSuffix("…") })
    }

    @Test func theLineOfAPipe() {
        #expect(
            Self.frame.line
                == "12.3 s  warning, score 0.41, 40.0 MiB of 256.0 MiB left; cgroup /sys/fs/cgroup/app says normal"
        )
        var empty = Self.frame
        empty.votes = []
        empty.headroom = nil
        #expect(empty.line == "12.3 s  warning, score 0.41")
    }
}

@Suite struct WatcherTests {
    /// A demand goes the whole way through a real monitor.
    @Test(.timeLimit(.minutes(1))) func decisionsAreToldOnce() async throws {
        let source = SimulatedSource()
        let watcher = try Watcher(sources: [source])
        try watcher.begin()
        defer { watcher.end() }
        source.set(.critical, freeing: .mebibytes(1))
        while watcher.frame.history.isEmpty { await Task.yield() }
        #expect(watcher.news().first?.wanted == .mebibytes(1))
        #expect(watcher.news().allSatisfy { $0.cause.levelBefore == .critical })
        #expect(watcher.frame.level == .critical)
    }
}

/// `pressuresim watch` as a process.
@Suite(.timeLimit(.minutes(2))) struct WatchCommandTests {
    @Test func inAPipeALineASecondAndNoColour() throws {
        let outcome = try Tool.run(["watch", "--duration", "1s"])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains(" left; "))
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(outcome.errors.isEmpty)
    }

    @Test func itEndsCleanlyWhenItIsInterrupted() throws {
        let (process, output, _) = try Tool.start(["watch"])
        #expect(try output.fileHandleForReading.read(upToCount: 1) != nil)
        process.interrupt()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
    }

    @Test func theLastViewAsJSON() throws {
        let outcome = try Tool.run(["watch", "--duration", "10ms", "--json", "-"])
        let json = try Tool.json(outcome)
        #expect(json["level"] as? String != nil)
        #expect((json["signals"] as? [Any])?.isEmpty == false)
    }
}
