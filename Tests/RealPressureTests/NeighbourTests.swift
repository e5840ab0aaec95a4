import PressureKit
import Testing

@testable import pressuresim

/// Real processes below one limit, as `pressuresim neighbours --bench` has them: fewer, and judged by counts.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: RealMachine.isAvailable, "\(RealMachine.objection ?? "")"))
struct NeighbourTests {
    @Test func aShortageIsFreedOnceAndNobodyIsKilledOrLosesAnything() async throws {
        let bench = NeighbourBench(counts: [1, 4], rounds: 1, runs: 6, tool: try #require(RealMachine.tool))
        let findings = try await Blocking.run("neighbours") { try bench.run() }
        #expect(findings.isRight, "\(findings)")
        let shared = try #require(findings.shortages.last)
        let ratio = try #require(findings.ratio(shared))
        // Twice would be each of them for itself by half; all four for themselves free four times as much.
        #expect(ratio < 1.6, "\(findings.shortages)")
        #expect(shared.answered != nil, "somebody has seen what another one notified of")
    }
}
