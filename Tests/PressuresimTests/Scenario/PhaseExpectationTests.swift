import Foundation
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// `expect: {phases: {…}}`.
@Suite struct PhaseExpectationTests {
    private static let text = smallScenario.replacing(
        "timeline:\n  - access: {of: shelf/*}\n",
        with: "timeline:\n  - phase: Cold\n  - access: {of: shelf/*}\n  - phase: Warm\n  - access: {of: shelf/*}\n"
    )

    private func outcomes(_ expectations: String) async throws -> [ScenarioLanguage.Expectation.Outcome] {
        let scenario = try scenario(Self.text + "\n" + expectations)
        let record = try await Simulation(scenario, file: "test.yaml", stage: .virtual()).run()
        return record.outcomes(Figures(record))
    }

    @Test func aPhaseIsHeldAgainstItsOwnReads() async throws {
        let outcomes = try await outcomes(
            """
              accesses: == 8
              phases:
                Cold: {accesses: == 4, loads: == 1, hit_rate: "== 75%"}
                Warm: {loads: == 0, hit_rate: "== 100%", load_p50: < 1h}
            """
        )
        let broken = outcomes.filter(\.isBroken).map(\.expectation.text)
        // Nothing was loaded there, so that nothing was measured.
        #expect(broken == ["Warm: load_p50 < 1h"])
        #expect(outcomes.count == 8)
    }

    @Test func cachesAreHeldAgainstTheirOwnReads() async throws {
        let outcomes = try await outcomes(
            """
              accesses: == 8
              caches:
                shelf/made: {accesses: == 2, loads: == 1, hits: == 2}
                shelf/kept-*: {accesses: == 6, hit_rate: "== 100%"}
                shelf/*: {accesses: == 8}
            """
        )
        // Of two reads the first loaded.
        #expect(outcomes.filter(\.isBroken).map(\.expectation.text) == ["shelf/made: hits == 2"])
        // And the one that the scenario has.
        #expect(outcomes.count == 8)
    }

    @Test func patternsOfCachesAreBounded() throws {
        let lines = (1...66).map {
            "    shelf/\(String(repeating: "?", count: $0 % 4))*\(String(repeating: "*", count: $0)): {hits: == 1}"
        }
        let told = complaints(Self.text + "\n  caches:\n" + lines.joined(separator: "\n"))
        #expect(
            told.contains { $0.contains("expectations for 65 patterns of caches or more; allowed here: at most 64") }
        )
    }

    @Test(arguments: [
        ("  caches: {shelf/mad: {hits: == 1}}", "\"shelf/mad\", which matches no cache; allowed here: "),
        ("  caches: {shelf/*: {claimed: 0}}", "unknown figure \"claimed\" for caches; allowed here: accesses, hits"),
        ("  phases: {Hot: {hits: == 1}}", "the phase \"Hot\", which there is not; allowed here: Cold, Warm"),
        ("  phases: {Warm: {claimed: 0}}", "unknown figure \"claimed\" for a phase; allowed here: accesses, hits"),
        ("  phases: {Warm: {hits: 3}}", "found \"3\"; allowed here: a comparison"),
        ("  phases: {Warm: 3}", "found \"3\"; allowed here: figures of reads"),
        ("  phases: 3", "found \"3\"; allowed here: phases"),
    ])
    func slipsAreTold(expectations: String, words: String) throws {
        let lines = complaints(Self.text + "\n" + expectations)
        #expect(lines.count == 1 && lines[0].contains(words), "\(lines)")
    }
}
