import PressureKit
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// A reclaim that several steps have joined is one reclaim.
@Suite struct SharedReclaimTests {
    private func report(_ number: Int) -> EvictionReport {
        let cause = PressureCause(
            origin: .simulated,
            source: "simulateMemoryWarning",
            levelBefore: .normal,
            levelAfter: .critical
        )
        var report = EvictionReport.empty(cause)
        report.number = number
        report.claimed = .mebibytes(3)
        return report
    }

    @Test func itIsToldAndCountedOnce() throws {
        let scenario = try ScenarioFile.parse(smallScenario, file: "small.yaml")
        let events = EventLog(keeps: true)
        let log = RunLog(scenario: scenario, file: "small.yaml", events: events)
        log.add(report(1), number: 2, title: "background", at: .zero, rssFall: nil)
        log.add(report(1), number: 4, title: "warning", at: .zero, rssFall: nil)
        log.add(report(2), number: 5, title: "warning", at: .zero, rssFall: nil)
        // What had no reclaim thread has no number.
        for number in 6...7 { log.add(report(0), number: number, title: "dismiss", at: .zero, rssFall: nil) }
        let record = log.current
        let figures = Figures(record)
        #expect(figures[.reclaims] == 4)
        #expect(figures[.claimed] == Double(4 * 3 << 20))
        #expect(
            record.steps.map(\.outcome)[0...2] == [
                "0 values out", #"shared the reclaim of "background""#, "0 values out",
            ]
        )
        #expect(record.steps.map { $0.reclaim != nil } == [true, false, true, true, true])
        #expect(record.timeline.marks.count == 4)
        #expect(events.events.count { $0.kind == "reclaim" } == 4)
    }

    /// The library's part: who asks while a reclaim goes on gets the report of the same one.
    @Test func whoJoinsAReclaimGetsItsNumber() async throws {
        var configuration = PressureConfiguration()
        configuration.sources = []
        let manager = try PressureManager(configuration: configuration)
        let first = await manager.simulateMemoryWarning(.warning)
        let second = await manager.simulateMemoryWarning(.critical)
        #expect((first.number, second.number) == (1, 2))
        await manager.shutdown()
        #expect(await manager.simulateMemoryWarning(.critical).number == 0)
    }
}
