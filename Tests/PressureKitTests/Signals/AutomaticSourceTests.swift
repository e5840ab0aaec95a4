import PressureKit
import PressureKitTesting
import Testing

/// Pitfall 28: nothing is known of a machine before it was tried.
@Suite struct AutomaticSourceTests {
    private static func statuses(_ root: FakeRoot) throws -> [PressureCause.Origin: SignalStatus] {
        let statuses = try PressureSource.automatic.open(in: root.context).flatMap(\.statuses)
        return Dictionary(statuses.map { ($0.origin, $0) }) { first, _ in first }
    }

    @Test func whatIsMissingIsToldWithTheReasonAndTheRestIsUsed() throws {
        let root = try FakeRoot(["/proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 900 kB\n"])
        let statuses = try Self.statuses(root)
        #expect(statuses[.memoryInfo]?.state == .available)
        for origin in [PressureCause.Origin.cgroup, .events, .stall, .service] {
            let status = try #require(statuses[origin])
            #expect(status.state == .unavailable)
            #expect(!status.detail.isEmpty)
        }
    }

    @Test func withNothingAtAllItIsAnError() throws {
        let root = try FakeRoot()
        let error = try #require(throws: PressureError.self) { try PressureSource.automatic.open(in: root.context) }
        #expect(error.code == .signalUnavailable)
    }

    /// A container of version 2, mounted read-only: the host's memory, its own limits, totals and events.
    @Test func aContainerIsJudgedByItsOwnLimits() throws {
        let root = try FakeRoot(["/proc/meminfo": "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\n"])
        try root.enterUnified("/")
        try root.makeUnified("", current: 230 << 20, max: "\(256 << 20)", inactive: 0)
        try root.write("/sys/fs/cgroup/cgroup.type", "domain\n")
        try root.write("/sys/fs/cgroup/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n")
        try root.write("/sys/fs/cgroup/memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        let clock = ManualClock()
        let heard = Lock<[PressureCause]>([])
        let monitor = try PressureMonitor(
            sources: try PressureSource.automatic.open(in: root.context),
            clock: clock
        ) { decision in heard.withLock { $0.append(decision.cause) } }
        for _ in 0..<5 { clock.advance(by: monitor.tick()) }
        let cause = try #require(heard.withLock { $0.last })
        #expect(cause.origin == .cgroup)
        #expect(cause.limit == .mebibytes(256))
        #expect(cause.levelAfter == .critical)
        #expect(monitor.votes.first { $0.reading?.origin == .memoryInfo }?.level == .normal)
    }

    @Test func everyChoiceHasAName() {
        let choices: [PressureSource] = [
            .automatic, .memoryInfo, .cgroups, .cgroupEvents, .stalls, .service, .footprint(limit: .gibibytes(1)),
        ]
        #expect(Set(choices.map(\.name)).count == choices.count)
    }

    @Test func statesAreInOrderOfTrust() {
        #expect(SignalStatus.State.allCases.sorted() == [.unavailable, .available, .armed, .verified])
        let status = SignalStatus(
            origin: .stall,
            source: "/x",
            state: .available,
            detail: "No trigger.",
            remedy: "Let it write."
        )
        #expect(status.description == "available: psi (/x): No trigger. Let it write.")
    }
}
