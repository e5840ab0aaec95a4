import ArgumentParser
import Foundation
import ReportPages
import ScenarioLanguage

/// `pressuresim check FILE…`.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say all that is wrong with scenarios, without playing them.",
        discussion: Prose.flowing(
            """
            One line for each thing that is wrong: where it is, what was found, what is allowed there, and the nearest
            right spelling. Nothing is played and nothing is taken.

              pressuresim check shop.yaml
              pressuresim check Scenarios/*.yaml

            Exit status: 0 all are right; 2 one is not, or cannot be read.
            """
        )
    )

    @Argument(help: "The scenarios, YAML files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    func run() throws {
        try CommandOutput.check(json, reading: files)
        let results = files.map(CheckResult.init)
        for result in results {
            if json != "-", let summary = result.summary { try CommandOutput.print(summary) }
            if let complaint = result.complaint { CommandOutput.complain(complaint) }
        }
        if let json { try CommandOutput.write(CommandJSON.encode(CheckJSON(results)), to: json) }
        if results.contains(where: { !$0.isRight }) { throw ExitStatus.wrongInput.exitCode }
    }
}

/// One file and what is wrong with it.
struct CheckResult {
    let file: String
    /// What it holds, if it is right.
    let scenario: Scenario?
    let diagnostics: [Diagnostic]
    /// All of them, one a line.
    let complaint: String?

    init(_ file: String) {
        self.file = file
        do {
            scenario = try ScenarioFile.read(path: file)
            diagnostics = []
            complaint = nil
        } catch {
            scenario = nil
            diagnostics = error.diagnostics
            complaint = error.description
        }
    }

    var isRight: Bool { scenario != nil }

    /// One line about a scenario that is right.
    var summary: String? {
        guard let scenario else { return nil }
        let parts = [
            Quantities.count(scenario.valueCount, "value"), Quantities.count(scenario.timeline.count, "step"),
            Quantities.count(scenario.expectations.count, "expectation"),
        ]
        return "\(file): right: \(scenario.name), \(parts.joined(separator: ", "))"
    }
}

/// What `check` found, for programs.
private struct CheckJSON: Encodable {
    struct File: Encodable {
        var file: String
        var right: Bool
        var diagnostics: [Part]
    }

    struct Part: Encodable {
        var line: Int
        var column: Int
        var found: String
        var allowed: String
        var suggestion: String?
    }

    var formatVersion = 1
    var command = "check"
    var right: Bool
    var files: [File]

    init(_ results: [CheckResult]) {
        right = results.allSatisfy(\.isRight)
        files = results.map { result in
            File(
                file: result.file,
                right: result.isRight,
                diagnostics: result.diagnostics.map { one in
                    Part(
                        line: one.position.line,
                        column: one.position.column,
                        found: one.found,
                        allowed: one.allowed,
                        suggestion: one.suggestion
                    )
                }
            )
        }
    }
}
