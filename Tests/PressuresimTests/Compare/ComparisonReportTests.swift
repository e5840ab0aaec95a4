import Foundation
import PressureKit
import Testing

@testable import pressuresim

/// Who is best, in marks and in words.
@Suite struct ComparisonReportTests {
    private func report(
        _ waited: [Contender: Double],
        _ change: (inout ComparisonReport) -> Void = { _ in }
    ) throws -> ComparisonReport {
        let scores = Contender.allCases.filter { waited[$0] != nil }.map { contender in
            Score(contender, values: [.waited: waited[contender] ?? 0, .hitRate: 0.5, .reclaims: 2])
        }
        var report = ComparisonReport(
            scenario: try scenario(smallScenario),
            file: "small.yaml",
            isReal: false,
            runs: 1,
            wanted: scores.count,
            played: scores.count,
            scores: scores,
            remarks: []
        )
        change(&report)
        return report
    }

    @Test func theBestOfAColumnIsMarkedAndTiesAreAllMarked() throws {
        let tied = try report([.ours: 2, .lru: 1.0001, .sieve: 1, .purge: 9])
        #expect(tied.best(.waited).map(\.contender) == [.lru, .sieve])
        #expect(!tied.isOursBest(.waited))
        // All alike: nobody is better than the others.
        #expect(tied.best(.hitRate).isEmpty)
        #expect(tied.isOursBest(.hitRate))
        // How many reclaims there were is no merit.
        #expect(tied.best(.reclaims).isEmpty)
    }

    @Test func moreHitsAreBetterAndLessWaitingIs() throws {
        let report = try report([.ours: 1, .lru: 2]) { report in
            report.scores[0].values[.hitRate] = 0.4
            report.scores[1].values[.hitRate] = 0.6
        }
        #expect(report.best(.hitRate).map(\.contender) == [.lru])
        #expect(report.best(.waited).map(\.contender) == [.ours])
    }

    @Test func whereOursIsBestItSaysByHowMuch() throws {
        let words = ComparisonWords(report: try report([.ours: 1, .lru: 1.25, .purge: 7]))
        #expect(
            words.verdict == "Readers wait least with PressureKit: 1.00 s. Next is LRU with 1.25 s (25.0 % longer)."
        )
        #expect(words.otherDefeats == nil)
    }

    @Test func whereOursIsNotTheBestItSaysSoAndHowToGetTheBetterOrder() throws {
        let words = ComparisonWords(report: try report([.ours: 1.22, .sieve: 1, .purge: 7]))
        #expect(
            words.verdict == """
                PressureKit is not the best here: readers wait 1.22 s, 22.0 % longer than with SIEVE (1.00 s). An app gets \
                that order with evictionOrder = .sieve.
                """
        )
        #expect(ComparisonText(report: words.report, style: .plain).text.contains(words.verdict))
    }

    /// Who drops what it cannot get back is no order to recommend.
    @Test func whatOnlyDropsIsNotRecommended() throws {
        let words = ComparisonWords(report: try report([.ours: 3, .nscache: 1]))
        #expect(words.verdict.contains("3.00 times as long than with NSCache's order") == false)
        #expect(words.verdict.contains("3.00 times as long as with NSCache's order (1.00 s)."), "\(words.verdict)")
        #expect(!words.verdict.contains("evictionOrder"))
    }

    @Test func everyColumnInWhichSomebodyElseIsBetterIsTold() throws {
        let report = try report([.ours: 1, .lru: 2]) { report in
            report.scores[0].values[.written] = 4_194_304
            report.scores[1].values[.written] = 1_048_576
        }
        let words = ComparisonWords(report: report)
        #expect(words.otherDefeats == "Others are better in: written (4.00 MiB; LRU 1.00 MiB).")
        #expect(words.remarks.first == words.otherDefeats)
    }

    /// Which waiting is another, where that is more than a twentieth of all.
    @Test func whatSeparatesDroppingAndSpillingIsTold() throws {
        let report = try report([.ours: 1, .lru: 9, .lruDropped: 5, .lruSpilled: 1.04]) { report in
            for (index, parts) in [(0.9, 0.1), (0, 9), (0.1, 4.9), (1.04, 0)].enumerated() {
                report.scores[index].values[.restoreStall] = parts.0
                report.scores[index].values[.reloadCost] = parts.1
            }
        }
        let words = ComparisonWords(report: report)
        let sentence = "What separates LRU, dropped from PressureKit: waiting for loaders, 4.90 s against 100 ms."
        #expect(words.separations == [sentence])
        #expect(words.remarks.contains(sentence))
    }

    @Test func unequalBytesAreToldAndSmallDifferencesAreNot() throws {
        let report = try report([.ours: 1, .lru: 2, .purge: 3]) { report in
            for (index, share) in [1.04, 3.5, 0.5].enumerated() { report.scores[index].freedOfAsked = share }
        }
        let lines = ComparisonWords(report: report).unequal
        #expect(
            lines == [
                "Purge everything frees 350 % of what is asked for, by its nature.",
                "LRU freed 50.0 % of what was asked for: not like with like.",
            ]
        )
    }

    @Test func whatNoCompetitorCouldHaveRestoredIsCounted() throws {
        let report = try report([.ours: 1, .purge: 2]) { $0.scores[1].onlyCopies = 1234 }
        let lines = ComparisonWords(report: report).onlyCopies
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("Purge everything would have lost 1,234 values that no loader makes"))
    }

    @Test func anInterruptedComparisonSaysHowFarItCame() throws {
        let report = try report([.ours: 1]) { $0.wanted = 6 }
        #expect(!report.isComplete)
        let words = ComparisonWords(report: report)
        #expect(words.verdict == "Readers waited 1.00 s with PressureKit; nobody else has been played yet.")
        #expect(words.remarks.last == "Interrupted: 1 of 6 runs were played.")
    }

    /// 80 columns: more contenders than fit make a second block, with ours in it.
    @Test func noLineOfTheTableIsWiderThanATerminal() throws {
        let all = Dictionary(uniqueKeysWithValues: Contender.allCases.map { ($0, 123.4) })
        let text = ComparisonText(report: try report(all), style: .plain).text
        let table = text.components(separatedBy: "* the best of its line")[0].split(separator: "\n").dropFirst(2)
        #expect(table.allSatisfy { $0.count <= 80 })
        #expect(table.count { $0.contains("PressureKit") } == 2)
        for contender in Contender.allCases { #expect(text.contains(" \(contender.shortTitle)")) }
    }

    @Test func aLostValueIsAFault() throws {
        let report = try report([.ours: 1, .lru: 2]) { $0.scores[1].lost = 1 }
        #expect(report.hasFailed)
        #expect(ComparisonWords(report: report).faults == ["LRU: 1 LOST"])
    }

    /// The table fits a terminal of 80 columns with the longest values there are.
    @Test func theTableFits80Columns() throws {
        let report = try report(Dictionary(uniqueKeysWithValues: Contender.allCases.map { ($0, 1000.0) })) { report in
            for index in report.scores.indices {
                for column in Score.Column.allCases { report.scores[index].values[column] = 9999 }
                for column: Score.Column in [.written, .freed, .returned] {
                    report.scores[index].values[column] = 1023 * 1_048_576
                }
                report.scores[index].values[.hitRate] = 1
                for column: Score.Column in [.waited, .p50, .p99, .max] {
                    report.scores[index].values[column] = 999e-6 * Double(index + 1)
                }
            }
        }
        let text = ComparisonText(report: report, style: .plain).text
        let table = text.components(separatedBy: "\n").drop { !$0.isEmpty }.dropFirst().prefix { !$0.isEmpty }
        #expect(table.count == Score.Column.allCases.count + 1)
        for line in table { #expect(line.count <= 80, "\(line)") }
        // Colours move no column.
        let coloured = ComparisonText(report: report, style: Style(isColoured: true)).text
        let stripped = coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        #expect(stripped == text)
    }

    /// Scripts read these keys: a change of this list is a change of the format.
    @Test func theKeysOfTheJSONAreStable() throws {
        let data = try CommandJSON.encode(ComparisonJSON(report([.ours: 1, .lru: 2])))
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(
            json.keys.sorted() == [
                "clock", "command", "complete", "contenders", "format_version", "ours_is_best", "remarks", "runs",
                "scenario", "tool_version", "verdict",
            ]
        )
        let contenders = try #require(json["contenders"] as? [[String: Any]])
        #expect(
            contenders.first?.keys.sorted() == [
                "failed_accesses", "figures", "lost", "model", "name", "only_copies", "title",
            ]
        )
        let figures = try #require(contenders.first?["figures"] as? [String: [String: Any]])
        #expect(figures.keys.sorted() == Score.Column.allCases.map(\.rawValue).sorted())
        #expect(figures["waited_seconds"]?["best"] as? Bool == true)
        #expect(figures["reclaims"]?["best"] is NSNull)
        #expect(figures["written_bytes"]?["value"] is NSNull)
    }

    @Test func realTimeSaysWhatIsChance() throws {
        let virtual = ComparisonWords(report: try report([.ours: 1, .lru: 2]))
        #expect(virtual.chance == nil)
        let once = ComparisonWords(report: try report([.ours: 1, .lru: 2]) { $0.isReal = true })
        #expect(once.chance?.contains("--runs") == true)
        let runs = [1.0, 1.5, 1.25].map { Score(.ours, values: [.waited: $0]) } + [Score(.lru, values: [.waited: 9])]
        #expect(Score.spread(runs) == 0.4)
        #expect(Score.spread([]) == nil)
        let often = ComparisonWords(
            report: try report([.ours: 1, .lru: 2]) { report in
                report.isReal = true
                report.spread = 0.4
            }
        )
        #expect(often.chance?.contains("up to 40.0 %") == true)
    }
}
