import Foundation
import PressureKit
import Testing

@testable import ReportPages
@testable import pressuresim

/// The page of a comparison. How it looks, `Tests/Pages` tests in a browser.
@Suite struct ComparisonPageTests {
    private func report(ours: Double = 1, _ change: (inout ComparisonReport) -> Void = { _ in }) throws
        -> ComparisonReport
    {
        var report = ComparisonReport(
            scenario: try scenario(smallScenario),
            file: "<b>&small.yaml",
            isReal: false,
            runs: 1,
            wanted: 8,
            played: 8,
            scores: Contender.allCases.enumerated().map { index, contender in
                Score(
                    contender,
                    values: [
                        .waited: index == 0 ? ours : 2 + Double(index), .restoreStall: 0.25, .reloadCost: 0.75,
                        .hitRate: 0.9, .p99: 0.001 * Double(8 - index), .written: 1_048_576,
                    ]
                )
            },
            remarks: ["<script>alert(1)</script>"]
        )
        change(&report)
        return report
    }

    @Test func saysFirstWhoIsBest() throws {
        let best = try Parsed(ComparisonPage(report: report()).page.text)
        #expect(best.text.contains("✓ Readers wait least with PressureKit"))
        let tied = try Parsed(ComparisonPage(report: report(ours: 3)).page.text)
        #expect(tied.text.contains("– A tie: others make readers wait no longer"), "nothing to celebrate")
        #expect(!tied.text.contains("✓"))
        let beaten = try Parsed(ComparisonPage(report: report(ours: 4)).page.text)
        #expect(beaten.text.contains("✗ PressureKit is not the best here"))
        #expect(beaten.text.contains("33.3 % longer than with purge everything (3.00 s)"))
    }

    @Test func everyContenderAndFigureIsThereAndTheBestIsMarked() throws {
        let page = try Parsed(ComparisonPage(report: report()).page.text)
        for contender in Contender.allCases {
            #expect(page.text.contains(contender.title))
            #expect(page.text.contains(contender.model))
        }
        for column: Score.Column in [.waited, .restoreStall, .reloadCost, .hitRate, .p99, .written] {
            #expect(page.text.contains(column.meaning))
        }
        // p99 falls from contender to contender.
        #expect(page.text.contains("★\u{A0}1.00 ms"))
        #expect(!page.text.contains("★\u{A0}90.0 %"))
    }

    @Test func theChartHasATitleADescriptionAndATable() throws {
        let page = try Parsed(ComparisonPage(report: report()).page.text)
        #expect(page.attributes.count { $0["role"] == "img" } == 1)
        #expect(page.names.count { $0 == "desc" } == 1)
        #expect(page.text.contains("The same as a table"))
    }

    @Test func nothingFromOutsideBecomesMarkup() throws {
        let page = try Parsed(ComparisonPage(report: report()).page.text)
        #expect(page.names.count { $0 == "script" } == 1)
        #expect(page.text.contains("<script>alert(1)</script>"))
        #expect(!page.names.contains("b"))
    }

    @Test func whatWasLostIsTheVerdict() throws {
        let page = try Parsed(ComparisonPage(report: report { $0.scores[2].lost = 3 }).page.text)
        #expect(page.text.contains("✗ Values were lost"))
        #expect(page.text.contains("NSCache's order: 3 LOST"))
    }

    /// In virtual time nothing of the machine is in it, so that it is the same everywhere.
    @Test func theMachineIsNamedInRealTimeOnly() throws {
        let text = ComparisonPage(report: try report()).page.text
        #expect(!text.contains("Measured on"))
        let machine = PageMachine.current(spillDirectory: nil)
        #expect(ComparisonPage(report: try report(), machine: machine).page.text.contains("Measured on"))
    }

    @Test func aComparisonThatHasHardlyBegunHasAPage() throws {
        _ = try Parsed(ComparisonPage(report: report { $0.scores = [] }).page.text)
    }
}
