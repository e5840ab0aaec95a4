import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite struct CleaningGateTests {
    private func reading(
        _ milliseconds: Int,
        ran: Int? = 0,
        waited: Int? = 0,
        processor: Int? = 0,
        device: Int? = 0
    ) -> BusyReading {
        BusyReading(
            time: MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000),
            ran: ran,
            waited: waited,
            processorStall: processor,
            deviceStall: device
        )
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Microseconds in the 100 ms between two readings.
        var ran: Int? = 16_000
        var waited: Int? = 0
        var processor: Int? = 0
        var device: Int? = 0
        var isIdle: Bool
    }

    @Test(arguments: [
        Case(testDescription: "nobody else", isIdle: true),
        Case(testDescription: "it got a processor nearly whenever it wanted", waited: 1700, isIdle: true),
        Case(testDescription: "it waited for a tenth of the time it wanted one", waited: 1800, isIdle: false),
        Case(testDescription: "it was throttled", ran: 2000, waited: 90_000, isIdle: false),
        Case(testDescription: "it slept, but for a wake-up", ran: 100, waited: 800, isIdle: true),
        Case(testDescription: "others waited for a processor", processor: 10_001, isIdle: false),
        Case(testDescription: "others waited a little", processor: 10_000, isIdle: true),
        Case(testDescription: "others waited for a device", device: 20_000, isIdle: false),
        Case(testDescription: "a kernel without PSI", processor: nil, device: nil, isIdle: true),
        Case(testDescription: "nothing is known", ran: nil, waited: nil, processor: nil, device: nil, isIdle: true),
    ])
    func opensOnlyWhileNobodyWaits(_ row: Case) {
        var gate = CleaningGate()
        var isIdle: Bool
        isIdle = gate.allows(reading(0))
        #expect(!isIdle)
        let next = reading(100, ran: row.ran, waited: row.waited, processor: row.processor, device: row.device)
        isIdle = gate.allows(next)
        #expect(isIdle == row.isIdle)
    }

    @Test func readingsThatAreTooCloseSayWhatTheLastOneSaid() {
        var gate = CleaningGate()
        var isIdle: Bool
        _ = gate.allows(reading(0))
        isIdle = gate.allows(reading(100))
        #expect(isIdle)
        isIdle = gate.allows(reading(110, processor: 9000))
        #expect(isIdle)
        // The stall is seen once the interval is long enough to judge it by.
        isIdle = gate.allows(reading(130, processor: 9000))
        #expect(!isIdle)
    }

    @Test func afterAResetItCountsAnew() {
        var gate = CleaningGate()
        var isIdle: Bool
        _ = gate.allows(reading(0))
        isIdle = gate.allows(reading(100))
        #expect(isIdle)
        gate.reset()
        isIdle = gate.allows(reading(200))
        #expect(!isIdle)
        isIdle = gate.allows(reading(300))
        #expect(isIdle)
    }

    /// Each time it was held up it waits twice as long; a sleep in between says nothing, work that nobody held up does.
    @Test func pausesTwiceAsLongEachTimeThatItWasHeldUp() {
        var gate = CleaningGate()
        var (time, work) = (0, 0)
        _ = gate.allows(reading(0))
        var pauses: [Duration] = []
        for _ in 0..<9 {
            time += 100
            work += 16_000
            var isIdle: Bool
            isIdle = gate.allows(reading(time, ran: work, waited: work))
            #expect(!isIdle)
            pauses.append(gate.pause)
            time += Int(gate.pause.nanoseconds / 1_000_000)
            isIdle = gate.allows(reading(time, ran: work, waited: work))
            #expect(isIdle, "it never tries again")
        }
        #expect(pauses.prefix(3) == [.milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(pauses.last == CleaningGate.longestPause)
        _ = gate.allows(reading(time + 100, ran: work + 16_000, waited: work))
        #expect(gate.pause == CleaningGate.shortestPause)
    }

    @Test(
        arguments: [
            ("10649749 250999 12\n", [10649, 250]), ("0 0 0", [0, 0]), ("1000 2000", [1, 2]), ("1000", nil), ("", nil),
            ("x 1000 1\n", nil), ("1000 99999999999999999999 1\n", nil),
        ] as [(String, [Int]?)]
    )
    func readsTheThreadsTimes(text: String, times: [Int]?) {
        #expect(BusyProbe.times(text.utf8.span).map { [$0.ran, $0.waited] } == times)
    }

    @Test func theThreadThatReadsHasTimesOfItsOwn() throws {
        let probe = BusyProbe()
        let mine = try #require(probe.read(at: MonotonicInstant(nanoseconds: 0)).ran)
        let others = Shared<Int?>(nil)
        let done = ConditionLock(false)
        try WorkerThread.spawn("reader") {
            others.set(probe.read(at: MonotonicInstant(nanoseconds: 0)).ran)
            done.withLock { $0 = true }
        }
        done.wait { $0 ? () : nil }
        // A new thread has run for less than the one that builds and runs tests.
        #expect(try #require(others.value) < max(mine, 50_000))
    }

    /// The host's load is no business of a container with processors of its own.
    @Test func looksAtItsOwnCgroupOnly() throws {
        let root = try FakeRoot()
        try root.enterUnified("/app")
        try root.write("/proc/loadavg", "64.0 64.0 64.0 64/612 12345\n")
        try root.write("/proc/pressure/cpu", "some avg10=99.00 avg60=99.00 avg300=99.00 total=900000000\n")
        try root.write("/proc/thread-self/schedstat", "5000000 1000 3\n")
        try root.write("/sys/fs/cgroup/app/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=42\n")
        let reading = BusyProbe(root.context).read(at: MonotonicInstant(nanoseconds: 0))
        #expect(reading.processorStall == 42)
        #expect(reading.ran == 5000 && reading.waited == 1)
        #expect(reading.deviceStall == nil)
    }
}

@Suite struct CleaningPacingTests {
    @Test func goesNoFasterThanItsRate() {
        let clock = ManualClock()
        var pacing = CleaningPacing(rate: 1000, burst: 500)
        var done = 0
        var random = SeededGenerator(seed: 3)
        let start = clock.now()
        while clock.now() - start < .seconds(60) {
            let delay = pacing.delay(at: clock.now())
            if delay > .zero {
                clock.advance(by: delay)
                continue
            }
            let bytes = Int.random(in: 1...300, using: &random)
            pacing.use(bytes)
            done += bytes
        }
        // A minute's worth, what was saved, and one piece.
        #expect(done <= 60_000 + 500 + 300)
        #expect(done >= 59_000)
    }

    @Test func savesNoMoreThanABurst() {
        let clock = ManualClock()
        var pacing = CleaningPacing(rate: 1000, burst: 500)
        clock.advance(by: .seconds(3600))
        let delay1 = pacing.delay(at: clock.now())
        #expect(delay1 == .zero)
        pacing.use(501)
        let delay2 = pacing.delay(at: clock.now())
        #expect(delay2 > .zero)
    }
}

@Suite struct ColdLineTests {
    @Test func nothingIsColdBeforeTwoNotes() {
        let clock = ManualClock()
        var line = ColdLine()
        #expect(!line.isBehind(1))
        line.note(10, at: clock.now()) { 11 }
        #expect(!line.isBehind(1))
        clock.advance(by: ColdLine.interval)
        line.note(15, at: clock.now()) { 16 }
        #expect(line.isBehind(10))
        #expect(line.isBehind(11))
        #expect(!line.isBehind(12))
    }

    @Test func aClockThatStandsStillIsLeftAlone() {
        let clock = ManualClock()
        var line = ColdLine()
        line.note(10, at: clock.now()) { 11 }
        clock.advance(by: ColdLine.interval)
        line.note(11, at: clock.now()) {
            Issue.record("moved a clock that nobody had used")
            return 12
        }
        #expect(line.isBehind(11))
    }

    @Test func theClockMayWrap() {
        let clock = ManualClock()
        var line = ColdLine()
        line.note(.max, at: clock.now()) { 0 }
        clock.advance(by: ColdLine.interval)
        line.note(3, at: clock.now()) { 4 }
        #expect(line.isBehind(.max - 5))
        #expect(line.isBehind(0))
        #expect(!line.isBehind(2))
    }
}
