import Foundation
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

@Suite struct ExpectationTests {
    @Test(arguments: [
        ("== 0", 0, true), ("== 0", 1, false), ("!= 0", 1, true), ("!= 0", 0, false),
        ("< 5", 4, true), ("< 5", 5, false), ("<= 5", 5, true), ("<= 5", 6, false),
        ("> 5", 6, true), ("> 5", 5, false), (">= 5", 5, true), (">= 5", 4, false),
        (">= 1 and < 3", 2, true), (">= 1 and < 3", 3, false),
    ])
    func aComparisonHoldsOrNot(text: String, value: Double, holds: Bool) throws {
        let lines = try expectations("restores: '\(text)'")
        #expect(lines.allSatisfy { $0.evaluate([.restores: value]).holds } == holds)
    }

    @Test func anExpectationOfWhatWasNeverMeasuredFails() throws {
        for comparison in ["== 0", "!= 0", "< 5s", ">= 0s"] {
            let line = try #require(try expectations("restore_p99: '\(comparison)'").first)
            #expect(!line.evaluate([:]).holds)
            #expect(!line.evaluate([.restoreP99: .nan]).holds)
        }
    }

    @Test(arguments: [
        ("returned_over_claimed", ">= 90%", 0.9), ("returned_over_claimed", ">= 0.9", 0.9),
        ("restore_p99", "< 50ms", 0.05), ("claimed", ">= 300MiB", 314_572_800),
        ("evict_rate", "> 140MB/s", 140e6), ("lost", "== 0", 0), ("claimed", "> 0", 0),
    ])
    func boundsHaveTheUnitOfTheirFigure(figure: String, text: String, bound: Double) throws {
        let line = try #require(try expectations("\(figure): '\(text)'").first)
        #expect(line.figure.rawValue == figure)
        #expect(abs(line.bound - bound) < 1e-9)
        #expect(line.text == "\(figure) \(text)")
    }

    private func expectations(_ line: String) throws -> [ScenarioLanguage.Expectation] {
        try scenario(smallScenario.replacingOccurrences(of: "lost: == 0", with: line)).expectations
    }
}
