import PressureKitTestSupport
import PressureKitTesting
import Testing

@testable import PressureKit

@Suite struct CalmGateTests {
    private func reading(
        _ milliseconds: Int,
        runnable: Int? = 1,
        processor: Int? = 0,
        device: Int? = 0
    ) -> BusyReading {
        BusyReading(
            time: MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000),
            runnable: runnable,
            processorStall: processor,
            deviceStall: device
        )
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var runnable: Int? = 1
        /// Microseconds of stall in the 100 ms between two readings.
        var processor: Int? = 0
        var device: Int? = 0
        var isCalm: Bool
    }

    @Test(arguments: [
        Case(testDescription: "nobody else", isCalm: true),
        Case(testDescription: "one other on two processors", runnable: 2, isCalm: true),
        Case(testDescription: "two others on two processors", runnable: 3, isCalm: false),
        Case(testDescription: "others waited for a processor", processor: 10_001, isCalm: false),
        Case(testDescription: "others waited a little", processor: 10_000, isCalm: true),
        Case(testDescription: "others waited for a device", device: 20_000, isCalm: false),
        Case(testDescription: "a kernel without PSI", processor: nil, device: nil, isCalm: true),
        Case(testDescription: "nothing is known", runnable: nil, processor: nil, device: nil, isCalm: true),
    ])
    func opensOnlyWhileNobodyWaits(_ row: Case) {
        var gate = CalmGate(cores: 2)
        var isCalm: Bool
        isCalm = gate.allows(reading(0))
        #expect(!isCalm)
        let next = reading(100, runnable: row.runnable, processor: row.processor, device: row.device)
        isCalm = gate.allows(next)
        #expect(isCalm == row.isCalm)
    }

    @Test func readingsThatAreTooCloseSayWhatTheLastOneSaid() {
        var gate = CalmGate(cores: 2)
        var isCalm: Bool
        _ = gate.allows(reading(0))
        isCalm = gate.allows(reading(100))
        #expect(isCalm)
        isCalm = gate.allows(reading(110, processor: 9000))
        #expect(isCalm)
        // The stall is seen once the interval is long enough to judge it by.
        isCalm = gate.allows(reading(130, processor: 9000))
        #expect(!isCalm)
    }

    @Test func afterAResetItCountsAnew() {
        var gate = CalmGate(cores: 2)
        var isCalm: Bool
        _ = gate.allows(reading(0))
        isCalm = gate.allows(reading(100))
        #expect(isCalm)
        gate.reset()
        isCalm = gate.allows(reading(200))
        #expect(!isCalm)
        isCalm = gate.allows(reading(300))
        #expect(isCalm)
    }

    @Test(
        arguments: [
            ("0.31 1.32 2.26 3/612 12345\n", 3), ("0.00 0.00 0.00 1/1 1\n", 1), ("0.31 1.32", nil), ("", nil),
            ("0.31 1.32 2.26 x/612 1\n", nil), ("0.31 1.32 2.26 99999999999999999999/1 1\n", nil),
        ] as [(String, Int?)]
    )
    func readsTheRunQueue(text: String, runnable: Int?) {
        #expect(BusyProbe.runnable(text.utf8.span) == runnable)
    }

    @Test func theMachineItRunsOnHasARunQueue() throws {
        let reading = BusyProbe().read(at: MonotonicInstant(nanoseconds: 0))
        #expect(try #require(reading.runnable) >= 1)
    }
}

@Suite struct CalmPacingTests {
    @Test func goesNoFasterThanItsRate() {
        let clock = ManualClock()
        var pacing = CalmPacing(rate: 1000, burst: 500)
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
        var pacing = CalmPacing(rate: 1000, burst: 500)
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
