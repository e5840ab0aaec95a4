import Foundation
import Testing

@testable import pressuresim

/// `run A B C`, `run -`, `--junit`, and `diff` of what they wrote.
@Suite(.timeLimit(.minutes(5))) struct SeveralRunsTests {
    private func write(_ text: String, _ name: String, in directory: URL) throws -> String {
        let path = directory.appendingPathComponent(name).path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func eachIsPlayedAndTheWorstCounts() async throws {
        try await withTemporaryDirectory { directory in
            let good = try write(smallScenario, "good.yaml", in: directory)
            let bad = try write(
                smallScenario.replacing("lost: == 0", with: "lost: == 0\n  evicted: \"> 1000 and < 2000\""),
                "bad.yaml",
                in: directory
            )
            let junit = directory.appendingPathComponent("results.xml").path
            let outcome = try Tool.run(["run", good, bad, good, "--virtual", "--junit", junit])
            #expect(outcome.status == 1)
            #expect(outcome.output.components(separatedBy: "What happened").count == 4)
            #expect(outcome.output.hasSuffix("\n2 of 3 scenarios as expected\n"))
            let xml = try Parsed(try String(contentsOfFile: junit, encoding: .utf8))
            #expect(xml.names.count { $0 == "testsuite" } == 3)
            #expect(xml.names.count { $0 == "testcase" } == 3 * 2 + 2)
            #expect(xml.names.count { $0 == "failure" } == 1)
            #expect(xml.all("name").contains("evicted > 1000"))
            #expect(try Tool.run(["run", good, good, "--virtual"]).status == 0)
            // One that is wrong is told, and the others are played.
            let wrong = try write("name: 1", "wrong.yaml", in: directory)
            let mixed = try Tool.run(["run", wrong, good, "--virtual", "--junit", junit])
            #expect(mixed.status == 2)
            let both = try Parsed(try String(contentsOfFile: junit, encoding: .utf8))
            #expect(both.names.count { $0 == "testsuite" } == 2)
            #expect(both.names.count { $0 == "error" } == 1)
            #expect(both.all("message") == ["the input is wrong"])
            #expect(mixed.output.contains("1 of 2 scenarios as expected"))
            #expect(mixed.errors.contains("wrong.yaml:1:1: found"))
        }
    }

    /// What any of them reads is kept, the traces too.
    @Test func noneIsWrittenOver() async throws {
        try await withTemporaryDirectory { directory in
            let text = smallScenario.replacing("{of: shelf/*}", with: "{of: shelf/*, pattern: {trace: keys.txt}}")
            let (file, keys) = (
                try write(text, "small.yaml", in: directory), try write("a\nb\n", "keys.txt", in: directory)
            )
            let other = try write(smallScenario, "other.yaml", in: directory)
            for path in [file, keys, other] {
                let outcome = try Tool.run(["run", file, other, "--virtual", "--junit", path])
                #expect(outcome.status == 2)
                #expect(outcome.errors.contains("which is read"), "\(outcome.errors)")
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            #expect(try String(contentsOfFile: keys, encoding: .utf8) == "a\nb\n")
        }
    }

    @Test(arguments: [
        (["a.yaml", "b.yaml", "--json", "x"], "are for one scenario"), (["a.yaml", "-"], "play it by itself"),
        (["a.yaml", "--set", "seed"], "must be key=value"), (["a.yaml", "--junit", "-", "--json", "-"], "Only one of"),
    ])
    func whatDoesNotGoTogetherIsWrongInput(arguments: [String], words: String) throws {
        let outcome = try Tool.run(["run"] + arguments)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    /// A pipe is read once, however often the tool starts itself: for each life, and for hashes that are always the same.
    @Test(arguments: [["--virtual"], []])
    func aScenarioIsReadFromStandardInput(options: [String]) throws {
        let text = smallScenario.replacing("  - warning: critical", with: "  - relaunch\n  - relaunch\n  - verify")
        let process = Process()
        let tool: URL = try #require(Tool.url, "pressuresim has not been built")
        process.executableURL = tool
        process.arguments = ["run", "-", "--set", "name=Piped", "--json", "-"] + options
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let facts = try RunFacts(data, file: "-")
        #expect(facts.scenario.name == "Piped")
        #expect(facts.passed)
    }

    @Test func aPolicyIsOneOfTheScenarios() async throws {
        try await withTemporaryDirectory { directory in
            let file = try write(smallScenario, "small.yaml", in: directory)
            #expect(try Tool.run(["run", file, "--virtual", "--policy", "lru"]).status == 0)
            let outcome = try Tool.run(["run", file, "--virtual", "--policy", "lru2"])
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("--set: found \"lru2\""), "\(outcome.errors)")
        }
    }

    /// In virtual time the same scenario has no difference, and a slower loader has one.
    @Test func whatBecameSlowerIsTold() async throws {
        try await withTemporaryDirectory { directory in
            let file = try write(smallScenario, "small.yaml", in: directory)
            func run(_ name: String, _ options: String...) throws -> String {
                let json = directory.appendingPathComponent(name).path
                #expect(try Tool.run(["run", file, "--virtual", "--json", json] + options).status == 0)
                return json
            }
            let old = try run("old.json")
            let same = try run("same.json")
            let slow = try run("slow.json", "--set", "controllers.shelf.caches.made.loader.cost=20ms")
            let equal = try Tool.run(["diff", old, same, "--at-most", "0%"])
            #expect(equal.status == 0)
            #expect(equal.output.contains("nothing changed"))
            let told = try Tool.run(["diff", old, slow])
            #expect(told.status == 0)
            #expect(told.output.contains("load_p50"), "\(told.output)")
            #expect(try Tool.run(["diff", old, slow, "--at-most", "10%"]).status == 1)
            #expect(try Tool.run(["diff", slow, old, "--at-most", "10%"]).status == 0)
            let json = try Tool.json(try Tool.run(["diff", old, slow, "--json", "-"]))
            let changes = try #require(json["changes"] as? [[String: Any]])
            #expect(changes.first?["worse"] as? Bool == true)
            for wrong in [[old, file], [old, "/no/such.json"], [old, slow, "--at-most", "much"]] {
                #expect(try Tool.run(["diff"] + wrong).status == 2, "\(wrong)")
            }
        }
    }

    @Test func namesAreTextInXML() throws {
        let part = RunFacts.ExpectationPart(expectation: "hits < 3 & \"x\"", line: 1, value: nil, holds: false)
        let facts = RunFacts(
            formatVersion: 1,
            passed: false,
            clock: "virtual",
            interrupted: false,
            scenario: .init(name: "<a> & \u{1B}", file: "a", seed: 1),
            figures: [:],
            losses: [.init(path: "p", reason: "gone")],
            expectations: [part]
        )
        let xml = try Parsed(JUnitReport(suites: [.played(facts), .refused(file: "<b>", status: 3)]).text)
        #expect(
            xml.all("name") == ["<a> & \\u{1b}", "no value is lost", "hits < 3 & \"x\"", "<b>", "it can be played"]
        )
        #expect(xml.all("failures") == ["2", "0"])
        #expect(xml.all("message") == ["1 lost; p: gone", "it was never measured", "the environment refused"])
    }
}
