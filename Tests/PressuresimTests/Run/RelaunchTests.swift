import Foundation
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// Scenarios that kill their own process and go on in another one.
@Suite(.timeLimit(.minutes(10))) struct RelaunchTests {
    private func scenario(_ text: String) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("relaunch-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: url)
        return url
    }

    private static let small = """
        name: Small
        seed: 3
        controllers:
          - name: app
            visible: true
            caches:
              - {name: mine, count: 6, size: 4KiB to 64KiB, content: text, loader: none}
              - {name: loaded, count: 4, size: 8KiB, content: text, loader: {cost: 1ms}}
        timeline:
          - access: {of: app/*}
          - update: {of: app/mine-*, pattern: uniform, count: 9}
          - warning: critical
          - relaunch
          - update: {of: app/mine-*, pattern: uniform, count: 5}
          - relaunch
          - access: {of: app/*}
        expect:
          lost: == 0
          failed_accesses: == 0
          state_restored: == 10
          loads: == 0
        """

    @Test func everyValueIsThereAfterTwoViolentDeaths() throws {
        let file = try scenario(Self.small)
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try Tool.run(["run", file.path, "--json", "-"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let json = try Tool.json(outcome)
        let steps = try #require(json["steps"] as? [[String: Any]])
        #expect(steps.compactMap { $0["number"] as? Int } == Array(1...7))
        let relaunches = steps.filter { $0["title"] as? String == "relaunch" }.compactMap { $0["outcome"] as? String }
        #expect(relaunches == ["10 caches saved, process 1 killed", "10 caches saved, process 2 killed"])
    }

    @Test func newsIsKilledAndRelaunched() throws {
        let outcome = try Tool.run(["run", "Scenarios/news.yaml", "--json", "-"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try Tool.json(outcome)["passed"] as? Bool == true)
    }

    /// What the next process finds is what was saved, and nothing else: without a state its values are lost, and that is
    /// told.
    @Test func aStateThatIsGoneIsALoss() throws {
        let file = try scenario(Self.small)
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("life-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer {
            try? FileManager.default.removeItem(at: file)
            try? FileManager.default.removeItem(at: directory)
        }
        func live(_ number: Int) throws -> Tool.Outcome {
            try Tool.run(["run", file.path, "--life", "\(number)", "--state", directory.path])
        }
        #expect(try live(0).status == SIGKILL, "by the signal")
        let state = directory.appendingPathComponent("state/state")
        #expect(FileManager.default.fileExists(atPath: state.path))
        try FileManager.default.removeItem(at: state)
        #expect(try live(1).status == SIGKILL)
        let records = try Life.records(before: 2, in: directory.path)
        #expect(records[0].losses.isEmpty && records[0].versions.values.reduce(0, +) == 9)
        #expect(!records[1].losses.isEmpty)
    }

    @Test func aTimelineIsSplitAtRelaunches() throws {
        let file = try scenario(Self.small)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try ScenarioFile.read(path: file.path).timeline.lives.map(\.count) == [3, 1, 1])
    }

    @Test func aRelaunchBesideOtherStepsIsRefused() throws {
        let text = Self.small.replacingOccurrences(
            of: "  - warning: critical\n",
            with: "  - together: [{warning: critical}, relaunch]\n"
        )
        let file = try scenario(text)
        defer { try? FileManager.default.removeItem(at: file) }
        let outcome = try Tool.run(["run", file.path])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("relaunch within together"))
    }
}
