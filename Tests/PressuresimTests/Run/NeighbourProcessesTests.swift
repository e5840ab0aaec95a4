import Foundation
import PressureKit
import Testing

@testable import ReportPages
@testable import ScenarioLanguage
@testable import pressuresim

/// Scenarios for several processes below one limit: what they may say, what the processes tell each other, what is reported.
@Suite(.timeLimit(.minutes(3))) struct NeighbourProcessesTests {
    private static func text(_ top: String, timeline: String = "- access: {of: shelf/*}") -> String {
        smallScenario.replacing("controllers:", with: "\(top)\ncontrollers:")
            .replacing("- access: {of: shelf/*}", with: timeline)
    }

    // MARK: The language

    @Test func aScenarioSaysHowManyProcessesPlayIt() throws {
        #expect(try scenario(smallScenario).processes == 1)
        #expect(try scenario(Self.text("memory: {cgroup_limit: 96MiB}\nprocesses: 3")).processes == 3)
        #expect(try scenario(Self.text("processes: 1")).processes == 1, "one needs no limit")
    }

    @Test(arguments: [
        ("processes: 3", "- verify", "3 processes without a limit that they share"),
        ("memory: real\nprocesses: 2", "- verify", "2 processes without a limit that they share"),
        ("memory: {cgroup_limit: 96MiB}\nprocesses: 4", "- verify", "at most 3: 32.0 MiB for each"),
        ("memory: {cgroup_limit: 1GiB}\nprocesses: 9", "- verify", "a whole number from 1 to 8"),
        ("memory: {cgroup_limit: 96MiB}\nprocesses: 2", "- relaunch", "2 processes and a relaunch"),
        (
            "memory: {cgroup_limit: 96MiB}\nprocesses: 3", "- fill: {until: warning, at_most: 20MiB}",
            "a fill of up to 60.0 MiB in a cgroup of 96.0 MiB"
        ),
    ])
    func whatCannotBePlayedIsSaid(top: String, timeline: String, words: String) {
        let lines = complaints(Self.text(top, timeline: timeline))
        #expect(lines.contains { $0.contains(words) }, "\(lines)")
    }

    @Test func onlyTheFirstStartsHogs() throws {
        let timeline = "- hog: {size: 8MiB, rate: 8MiB/s}\n  - together: [{hog: {size: 4MiB, rate: 4MiB/s}}, verify]"
        let steps = try scenario(Self.text("memory: {cgroup_limit: 96MiB}", timeline: timeline)).ofANeighbour.timeline
        guard case .wait(.seconds(1)) = steps[0].action, case .together(let inner) = steps[1].action,
            case .wait(.seconds(1)) = inner[0].action, case .verify = inner[1].action
        else {
            Issue.record("\(steps)")
            return
        }
    }

    @Test func reallyEachOfThemReadsTheFile() throws {
        let three = try scenario(Self.text("memory: {cgroup_limit: 96MiB}\nprocesses: 3"))
        #expect(throws: Never.self) { try NeighbourProcesses.check(three, file: "-", .virtual()) }
        #expect(throws: EnvironmentRefusal.self) { try NeighbourProcesses.check(three, file: "-", .real()) }
        #expect(throws: Never.self) { try NeighbourProcesses.check(three, file: "test.yaml", .real()) }
    }

    // MARK: What they say

    @Test func whatOneSaysTheFirstUnderstands() throws {
        var record = try RunSamples.empty()
        record.tally.losses = [.init(path: "shelf/kept\n", reason: "its \"bytes\"")]
        for word in [
            NeighbourWord.held(.mebibytes(3)), .at(.made), .at(.played), .ended(NeighbourResult(record)),
        ] {
            #expect(word.line.count { $0 == "\n" } == 1)
            #expect(NeighbourWord(word.line.dropLast()) == word)
        }
        for line in ["", "held", "held -1", "held many", "ended", "ended {}", "made2"] {
            #expect(NeighbourWord(line) == nil, "\(line)")
        }
    }

    // MARK: Reports

    /// Three processes, of which the last was killed half way.
    static func record(killed: Bool) throws -> RunRecord {
        var record = try RunSamples.usual()
        record.scenario.expectations = []
        let count = record.timeline.points.count
        for index in 0..<count {
            let isThere = !killed || index < count / 2
            record.timeline.points[index].neighbours = [.mebibytes(50), isThere ? .mebibytes(70) : nil]
        }
        let result = NeighbourResult(try RunSamples.empty())
        record.add([
            .init(number: 2, seed: 6, end: .finished, result: result),
            .init(number: 3, seed: 7, end: killed ? .killed : .finished, result: killed ? nil : result),
        ])
        return record
    }

    @Test(arguments: [false, true]) func everyProcessIsInTheJSONOnThePageAndInTheAccount(killed: Bool) throws {
        let record = try Self.record(killed: killed)
        let figures = Figures(record)
        let json = try #require(
            try JSONSerialization.jsonObject(with: JSONReport(record, figures, []).data()) as? [String: Any]
        )
        #expect(json["passed"] as? Bool == !killed)
        let all = try #require(json["neighbours"] as? [[String: Any]])
        #expect(all.compactMap { $0["process"] as? Int } == [1, 2, 3])
        #expect(all.compactMap { $0["end"] as? String } == ["finished", "finished", killed ? "killed" : "finished"])
        let held = try #require(all[2]["held_bytes"] as? [Any])
        #expect(held.count == record.timeline.points.count)
        #expect(held.last is NSNull == killed)
        #expect(all[1]["mean_held_bytes"] as? Int == 50 << 20)

        let lines = TimelineCSV.text(record.timeline).split(separator: "\n")
        #expect(lines[0].hasSuffix(",process_2_bytes,process_3_bytes"))
        #expect(lines.last?.hasSuffix(killed ? ",\(50 << 20)," : ",\(50 << 20),\(70 << 20)") == true)

        let facts = try RunFacts(JSONReport(record, figures, []).data(), file: "facts")
        let junit = JUnitReport(suites: [.played(facts)]).text
        #expect(junit.contains("failures=\"\(killed ? 1 : 0)\""))
        #expect(junit.contains("every process plays to its end"))

        let page = RunSamples.report(record).page.text
        for tone in ["blue", "sky", "green"] { #expect(page.contains("line-\(tone)"), "\(tone)") }
        #expect(page.contains("process 3</li>"))
        var twice = record
        twice.timeline.points.insert(record.timeline.points[0], at: 0)
        func rows(_ text: String) -> Int { text.components(separatedBy: "<tr").count }
        #expect(rows(RunSamples.report(twice).page.text) == rows(page), "one line a moment")
        let account = Account(record: record, figures: figures, outcomes: [], style: .plain).text
        #expect(account.contains("3 processes held"))
        #expect(account.contains(killed ? "; 1 killed" : "nobody was killed"))
        #expect(account.contains("process 3 was killed") == killed)
        #expect(page.contains("1 of 3 processes did not get to the end") == killed)
    }

    @Test func oneProcessIsToldNothingOfOthers() throws {
        let record = try RunSamples.usual()
        #expect(record.heldByProcess.isEmpty && record.neighbourWords == nil)
        #expect(!RunSamples.report(record).page.text.contains("What each process held"))
    }

    @Test func whatTheOthersLostCounts() throws {
        var record = try RunSamples.empty()
        var other = record
        other.tally.losses = [.init(path: "shelf/kept-1", reason: "gone")]
        other.tally.failures = 2
        record.add([.init(number: 2, seed: 6, end: .finished, result: NeighbourResult(other))])
        #expect(Figures(record)[.lost] == 1)
        #expect(Figures(record)[.failedAccesses] == 2)
        #expect(record.tally.losses.first?.path == "process 2: shelf/kept-1")
    }
}
