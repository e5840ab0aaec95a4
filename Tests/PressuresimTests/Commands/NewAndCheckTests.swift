import Foundation
import Testing

@testable import ScenarioLanguage
@testable import pressuresim

/// A newcomer's way: new, check, run.
@Suite(.timeLimit(.minutes(3))) struct NewAndCheckTests {
    @Test func whatNewWritesIsRightAndHolds() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("my \"shop\" \\.yaml").path
            let made = try Tool.run(["new", file])
            #expect(made.status == 0, "\(made)")
            #expect(made.output.contains("pressuresim run"))
            let checked = try Tool.run(["check", file])
            #expect(checked.status == 0, "\(checked)")
            #expect(checked.output.contains("my \"shop\" \\"), "\(checked)")
            let played = try Tool.run(["run", file])
            #expect(played.status == 0, "\(played)")
            // What is there is not written over.
            let again = try Tool.run(["new", file])
            #expect(again.status == 2)
            #expect(again.errors.contains("is there already"))
        }
    }

    @Test func mostOfItIsExplained() {
        let text = ScenarioTemplate.text(name: "x")
        let lines = text.components(separatedBy: "\n").filter { !$0.isEmpty }
        #expect(lines.count { $0.contains(" # ") } * 2 >= lines.count)
        for line in lines { #expect(line.count <= 120, "\(line)") }
    }

    @Test func allThatIsWrongIsToldWithoutPlaying() async throws {
        try await withTemporaryDirectory { directory in
            let right = directory.appendingPathComponent("right.yaml")
            let wrong = directory.appendingPathComponent("wrong.yaml")
            try Data(smallScenario.utf8).write(to: right)
            let text = smallScenario.replacingOccurrences(of: "visible", with: "visable")
                .replacingOccurrences(of: "64KiB", with: "64KB")
            try Data(text.utf8).write(to: wrong)
            let outcome = try Tool.run(["check", right.path, wrong.path, "/no/such.yaml", "--json", "-"])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("wrong.yaml:5:5: found unknown key \"visable\""))
            #expect(outcome.errors.contains("did you mean"))
            let json = try Tool.json(outcome)
            #expect(json["right"] as? Bool == false)
            let files = try #require(json["files"] as? [[String: Any]])
            #expect(files.map { $0["right"] as? Bool } == [true, false, false])
            let diagnostics = try #require(files[1]["diagnostics"] as? [[String: Any]])
            #expect(diagnostics.count == 2)
            #expect(diagnostics[0]["line"] as? Int == 5)
            #expect(diagnostics[0]["column"] as? Int == 5)
            // Those that are right are named on standard output.
            let told = try Tool.run(["check", right.path, wrong.path])
            #expect(told.output.contains("right.yaml: right: Small, 4 values, 2 steps, 1 expectation"))
        }
    }

    /// The topic knows every step and figure: it is made from the forms that read them.
    @Test func theTopicNamesEveryStepAndFigure() throws {
        let text = try Tool.run(["scenario"]).output
        for figure in Figure.allCases { #expect(text.contains(figure.rawValue), "\(figure.rawValue)") }
        for word in ["access", "update", "browse", "warning", "background", "foreground", "together", "relaunch"] {
            #expect(text.contains(word), "\(word)")
        }
        for line in text.components(separatedBy: "\n") { #expect(line.count <= 120, "\(line)") }
    }
}
