import Foundation
import Testing

@testable import pressuresim

/// The tool as a process: exit status, what it prints where.
@Suite struct CommandTests {
    /// Whether the thread sanitizer's runtime is in this process.
    private static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil

    private func run(scenario text: String, _ options: [String] = []) async throws -> Tool.Outcome {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("test.yaml")
            try Data(text.utf8).write(to: file)
            return try Tool.run(["run", file.path] + options)
        }
    }

    @Test func zeroWhenAllExpectationsHold() async throws {
        let outcome = try await run(scenario: smallScenario)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("lost = 0"))
        // In a pipe there is neither colour nor a progress line.
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(outcome.errors.isEmpty)
    }

    @Test func oneWhenAnExpectationFails() async throws {
        let text = smallScenario.replacingOccurrences(of: "lost: == 0", with: "claimed: '> 1GiB'")
        let outcome = try await run(scenario: text)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("✗ claimed > 1GiB"))
    }

    @Test func twoWhenTheInputIsWrong() async throws {
        let text = smallScenario.replacingOccurrences(of: "visible", with: "visable")
        let outcome = try await run(scenario: text)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("test.yaml:5:5: found unknown key \"visable\""))
        #expect(outcome.output.isEmpty)
        #expect(try Tool.run(["run"]).status == 2)
        #expect(try Tool.run(["run", "a.yaml", "--no-such-option"]).status == 2)
        #expect(try Tool.run(["no-such-command"]).status == 2)
    }

    @Test func threeWhenTheEnvironmentRefuses() async throws {
        let outcome = try await run(scenario: smallScenario, ["--spill-directory", "/no/such/directory"])
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("/no/such/directory"))
        let unwritable = try await run(scenario: smallScenario, ["--json", "/no/such/directory/report.json"])
        #expect(unwritable.status == 3)
    }

    @Test func theJSONReportGoesWhereItIsAskedTo() async throws {
        let outcome = try await run(scenario: smallScenario, ["--json", "-", "--seed", "9"])
        #expect(outcome.status == 0)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect((json["scenario"] as? [String: Any])?["seed"] as? Int == 9)
    }

    /// The demo as a user runs it, less its one expectation of speed: the build and the machine decide that one.
    ///
    /// Not under a sanitizer, where hashing hundreds of MiB in a debug build takes a quarter of an hour; the small
    /// scenarios do the same there.
    @Test(.timeLimit(.minutes(15)), .enabled(if: !isSanitized))
    func theDemoReturnsNineTenthsOfWhatItClaimsAndLosesNothing() throws {
        let demo = packageDirectory.appendingPathComponent("Scenarios/gallery.yaml").path
        let outcome = try Tool.run(["run", demo, "--json", "-"])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let expectations = try #require(json["expectations"] as? [[String: Any]])
        let broken = expectations.filter { $0["holds"] as? Bool == false }.compactMap { $0["expectation"] as? String }
        #expect(broken.filter { !$0.hasPrefix("duration") } == [])
        #expect(expectations.contains { $0["expectation"] as? String == "rss_fall_over_claimed >= 90%" })
        #expect((json["losses"] as? [Any])?.isEmpty == true)
    }

    @Test func helpIsAnAnswerNotAnError() throws {
        let outcome = try Tool.run(["run", "--help"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("pressuresim run Scenarios/gallery.yaml"))
    }
}
