import Foundation
import Testing

@testable import pressuresim

/// What holds for every command, as a process. A command that is new in the tool has to get a line in ``Row/all``.
@Suite(.timeLimit(.minutes(5))) struct EveryCommandTests {
    /// A command and arguments with which it would begin to work.
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        /// `FILE` stands for a scenario, `NEW` for a file that is not there, `RECORDING` for one of signals,
        /// `RUN` for what a run writes with `--json`.
        var arguments: [String] = []
        /// Arguments that it must refuse with 2 besides an option that nobody has.
        var wrong: [[String]] = []
        /// Whether it has `--json`.
        var hasJSON = true
        /// Whether it is done at once, and prints.
        var isShort = false

        var testDescription: String { name }

        static let all = usual + withRedis

        private static let usual = [
            Row(name: "run", arguments: ["FILE"], wrong: [[], ["/no/such.yaml"], ["FILE", "--seed", "x"]]),
            Row(name: "compare", arguments: ["FILE"], wrong: [[], ["/no/such.yaml"], ["FILE", "--runs", "0"]]),
            Row(
                name: "diff",
                arguments: ["RUN", "RUN"],
                wrong: [[], ["RUN"], ["RUN", "FILE"], ["RUN", "RUN", "--at-most", "5"]],
                isShort: true
            ),
            Row(name: "new", arguments: ["NEW"], wrong: [[], ["FILE"]], hasJSON: false, isShort: true),
            Row(name: "check", arguments: ["FILE"], wrong: [[], ["/no/such.yaml"]], isShort: true),
            Row(name: "scenario", wrong: [["more"]], hasJSON: false, isShort: true),
            Row(name: "doctor", wrong: [["more"]], isShort: true),
            Row(name: "watch", wrong: [["--duration", "soon"]]),
            Row(name: "record", arguments: ["NEW"], wrong: [[], ["NEW", "--duration", "1"]]),
            Row(name: "replay", arguments: ["RECORDING"], wrong: [[], ["/no/such.signals"], ["FILE"]], isShort: true),
            Row(name: "bench", wrong: [["--corpus"]]),
            Row(name: "worth", wrong: [["--kind", "none"], ["--quick", "--grid"], ["--limit", "1KiB"]]),
            Row(name: "survive", wrong: [["--times", "1000"]]),
            Row(name: "soak", wrong: [["--duration", "1s"], ["--rate", "0"]]),
            Row(name: "hog", arguments: ["--ceiling", "1MiB", "--hold", "60min"], wrong: [[], ["--ceiling", "1MB"]]),
            Row(name: "status", arguments: ["1"], wrong: [[], ["0"], ["99999999999"], [""]]),
            Row(name: "neighbours", wrong: [["more"], ["--runs", "few"]], isShort: true),
            Row(name: "warn", arguments: ["1"], wrong: [[], ["1", "normal"], ["1", "critical", "5"]]),
            Row(name: "evict", arguments: ["1", "1MiB"], wrong: [["1"], ["1", "0B"], ["1", "1MiB", "2"]]),
            Row(name: "background", arguments: ["1"], wrong: [[], ["1", "2"], ["1", "--timeout", "soon"]]),
            Row(name: "foreground", arguments: ["1"], wrong: [[], ["1", "2"]]),
            Row(name: "schema", wrong: [["more"]], hasJSON: false, isShort: true),
            Row(name: "manual", arguments: ["NEW"], wrong: [[], ["NEW", "more"]], hasJSON: false),
        ]

        #if Redis
        private static let withRedis = [
            Row(
                name: "remote",
                arguments: ["nowhere"],
                wrong: [[], ["a:0"], ["rediss://"], ["a", "--all"], ["a", "--cert", "c"]]
            )
        ]
        #else
        private static let withRedis: [Row] = []
        #endif

        static var withJSON: [Row] { all.filter(\.hasJSON) }
        static var short: [Row] { all.filter(\.isShort) }
    }

    /// Calls `body` with a function that puts files in the place of the words that stand for them.
    private func withFiles<Result>(_ body: (([String]) -> [String]) throws -> Result) async throws -> Result {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("small.yaml")
            let recording = directory.appendingPathComponent("a.signals")
            try Data(smallScenario.utf8).write(to: file)
            try Data("pressurekit-signals 1\n".utf8).write(to: recording)
            let run = directory.appendingPathComponent("run.json")
            let facts =
                #"{"format_version":1,"passed":true,"clock":"virtual","interrupted":false,"figures":{},"losses":[],"#
                + #""scenario":{"name":"Small","file":"small.yaml","seed":5},"expectations":[]}"#
            try Data(facts.utf8).write(to: run)
            let names = [
                "RUN": run.path, "FILE": file.path, "NEW": directory.appendingPathComponent("new").path,
                "RECORDING": recording.path,
            ]
            return try body { $0.map { names[$0] ?? $0 } }
        }
    }

    @Test func thereIsALineForEach() throws {
        let tool = try ToolDescription.current()
        #expect(tool.command.visible.map(\.commandName).sorted() == Row.all.map(\.name).sorted())
        for command in tool.command.visible {
            let options = command.visibleArguments.flatMap { $0.names ?? [] }.map(\.name)
            #expect(options.contains("json") == Row.withJSON.map(\.name).contains(command.commandName))
        }
    }

    /// A newcomer learns from it what the command does, sees it used, and learns what its status means.
    @Test(arguments: Row.all) func helpHasAnExampleAndTheStatus(row: Row) throws {
        let outcome = try Tool.run([row.name, "--help"])
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.output.contains("  pressuresim \(row.name)") || outcome.output.contains("  sudo pressuresim"))
        #expect(outcome.output.contains("Exit status:") || outcome.output.contains("Exit\nstatus:"))
        let lines = outcome.output.components(separatedBy: "\n").filter { !$0.hasPrefix("USAGE:") }
        for line in lines { #expect(line.count <= 80, "\(line)") }
    }

    @Test func theToolsHelpNamesEveryCommandAndHowToBegin() throws {
        let outcome = try Tool.run(["--help"])
        #expect(outcome.status == 0)
        for row in Row.all { #expect(outcome.output.contains("  \(row.name) "), "\(row.name)") }
        for line in [
            "pressuresim new shop.yaml", "pressuresim check shop.yaml", "pressuresim run shop.yaml",
            "pressuresim compare shop.yaml", "pressuresim scenario", "pressuresim doctor", "NO_COLOR",
        ] { #expect(outcome.output.contains(line), "\(line)") }
        // An example that is wrapped cannot be copied, a paragraph that breaks anywhere cannot be read.
        for line in outcome.output.components(separatedBy: "\n") { #expect(line.count <= 80, "\(line)") }
        for hidden in ["signals-child", "Hidden"] { #expect(!outcome.output.contains(hidden), "\(hidden)") }
    }

    @Test(arguments: Row.all) func wrongInputIsTwoAndSaysWhatIsWrong(row: Row) async throws {
        try await withFiles { files in
            for arguments in [row.arguments + ["--no-such-option"]] + row.wrong {
                let outcome = try Tool.run([row.name] + files(arguments))
                #expect(outcome.status == 2, "\(arguments): \(outcome)")
                #expect(!outcome.errors.isEmpty, "\(arguments)")
                #expect(outcome.output.isEmpty, "\(arguments)")
            }
        }
    }

    /// Most of these would go on for minutes: that this ends shows that it was refused before.
    @Test(arguments: Row.withJSON) func aReportThatCannotBeWrittenIsRefusedBeforeTheWork(row: Row) async throws {
        try await withFiles { files in
            let outcome = try Tool.run(
                [row.name] + files(row.arguments) + ["--json", "/no/such/directory/report.json"]
            )
            #expect(outcome.status == 3, "\(outcome)")
            #expect(outcome.errors.contains("/no/such/directory/report.json cannot be written"))
            #expect(outcome.errors.contains("No such file or directory"))
            #expect(outcome.output.isEmpty)
        }
    }

    /// A full disk must not look like success.
    @Test(arguments: Row.short.filter { $0.name != "new" })
    func outputThatCannotBeWrittenIsThree(row: Row) async throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        try await withFiles { files in
            let outcome = try Tool.run([row.name] + files(row.arguments), output: full)
            #expect(outcome.status == 3, "\(outcome)")
            #expect(outcome.errors.contains("standard output cannot be written: No space left on device"))
        }
    }

    /// As in `pressuresim scenario | head -1`, whose shell may have told it to ignore SIGPIPE or not.
    @Test(arguments: Row.short.filter { $0.name != "new" })
    func aReaderWhoLeavesIsNoFailure(row: Row) async throws {
        try await withFiles { files in
            let pipe = Pipe()
            try pipe.fileHandleForReading.close()
            let outcome = try Tool.run([row.name] + files(row.arguments), output: pipe.fileHandleForWriting)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.errors.isEmpty, "\(outcome)")
        }
    }

    /// What has no end of its own ends when nobody looks any more.
    @Test(arguments: [["watch"], ["record", "-"]]) func whatGoesOnEndsWhenItsReaderLeaves(arguments: [String]) throws {
        let (process, output, errors) = try Tool.start(arguments)
        #expect(try output.fileHandleForReading.read(upToCount: 1) != nil)
        try output.fileHandleForReading.close()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 0)
        #expect(complaints.isEmpty, "\(String(decoding: complaints, as: UTF8.self))")
    }

    @Test(arguments: [
        ("rnu", "run"), ("comapre", "compare"), ("Status", "status"), ("surviv", "survive"), ("fore", "foreground"),
        ("schemas", "schema"),
    ])
    func aMistypedCommandIsToldTheRightOne(word: String, command: String) throws {
        let outcome = try Tool.run([word, "x.yaml"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasPrefix("Error: there is no command \"\(word)\"; did you mean \"\(command)\"?\n"))
    }

    @Test func whatIsLikeNoCommandGetsNoSuggestion() {
        for arguments in [[], ["--json"], ["zzzzzz"], ["run", "x"], [""], ["s"]] {
            #expect(MistypedCommand.suggestion(for: arguments) == nil, "\(arguments)")
        }
    }

    /// What is written where, three files have to agree on.
    @Test func theVersionIsThePackages() throws {
        for (file, line) in [
            ("Sources/PressureKitC/Plugin.swift", "version: StaticString = \"\(ToolVersion.current)\""),
            ("Python/pyproject.toml", "\nversion = \"\(ToolVersion.current)\""),
        ] {
            let text = try String(contentsOf: packageDirectory.appendingPathComponent(file), encoding: .utf8)
            #expect(text.contains(line), "\(file)")
        }
    }

    @Test func noCommandAndUnknownOnesAreTwoOrHelp() throws {
        #expect(try Tool.run([]).output.hasPrefix("OVERVIEW"))
        let version = try Tool.run(["--version"])
        #expect(version.output == "pressuresim \(ToolVersion.current)\n")
        #expect(version.status == 0)
        let unknown = try Tool.run(["no-such-command"])
        #expect(unknown.status == 2)
        #expect(unknown.output.isEmpty)
    }
}
