import Foundation
import Testing

@testable import pressuresim

/// The tool as a process: exit status, what it prints where.
@Suite struct CommandTests {
    private struct Outcome {
        var status: Int32
        var output: String
        var errors: String
    }

    /// The tool that was built together with the tests.
    private static let tool: URL? = {
        let executable = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let beside = executable.deletingLastPathComponent().appendingPathComponent("pressuresim")
        let built = packageDirectory.appendingPathComponent(".build/debug/pressuresim")
        return [beside, built].first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Whether the thread sanitizer's runtime is in this process.
    private static let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil

    private func run(_ arguments: [String]) throws -> Outcome {
        let tool: URL = try #require(Self.tool, "pressuresim has not been built")
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self)
        )
    }

    private func run(scenario text: String, _ options: [String] = []) async throws -> Outcome {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("test.yaml")
            try Data(text.utf8).write(to: file)
            return try run(["run", file.path] + options)
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
        #expect(try run(["run"]).status == 2)
        #expect(try run(["run", "a.yaml", "--no-such-option"]).status == 2)
        #expect(try run(["no-such-command"]).status == 2)
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
        let outcome = try run(["run", demo, "--json", "-"])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let expectations = try #require(json["expectations"] as? [[String: Any]])
        let broken = expectations.filter { $0["holds"] as? Bool == false }.compactMap { $0["expectation"] as? String }
        #expect(broken.filter { !$0.hasPrefix("duration") } == [])
        #expect(expectations.contains { $0["expectation"] as? String == "rss_fall_over_claimed >= 90%" })
        #expect((json["losses"] as? [Any])?.isEmpty == true)
    }

    @Test func helpIsAnAnswerNotAnError() throws {
        let outcome = try run(["run", "--help"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("pressuresim run Scenarios/gallery.yaml"))
    }
}
