import Testing

@testable import pressuresim

@Suite struct SignalsBenchTests {
    private typealias Latencies = SignalsBench.Latencies

    @Test func percentilesAreThoseOfAllCrossings() {
        let latencies = Latencies(milliseconds: (1...100).map(Double.init).reversed())
        #expect(latencies.percentile(0.5) == 50)
        #expect(latencies.percentile(0.99) == 99)
        #expect(Latencies().percentile(0.99) == nil)
    }

    /// What was never answered took for ever: it must not make the rest look better.
    @Test func whatWasNeverAnsweredCounts() {
        let latencies = Latencies(milliseconds: [1, 2, 3], unanswered: 1)
        #expect(latencies.percentile(0.5) == 2)
        #expect(latencies.percentile(0.99) == .infinity)
    }

    @Test func theReportHasItsNamesAndGoals() throws {
        let report = SignalsBenchReport(latencies: [
            .headroom: Latencies(milliseconds: [10, 20]), .stall: Latencies(milliseconds: [900], unanswered: 1),
        ])
        #expect(
            report.text(.plain) == """
                From crossing to first byte freed, in a real cgroup
                metric                   crossings      p50    value  goal        verdict
                signals_headroom_p99_ms          2  10.0 ms  20.0 ms  <= 50 ms    reached
                signals_psi_p99_ms               2   900 ms    never  <= 2000 ms  missed
                """
        )
        let metrics = report.json.metrics
        #expect(metrics.map(\.name) == ["signals_headroom_p99_ms", "signals_psi_p99_ms"])
        #expect(metrics.map(\.holds) == [true, false])
        #expect(metrics[1].value == nil)
    }
}
