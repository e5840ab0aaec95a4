import Foundation
import Testing

@testable import pressuresim

/// What is written where, and what that needs.
@Suite struct OutputTests {
    @Test(
        arguments: [
            ([:], true, true), ([:], false, false),
            (["NO_COLOR": "1"], true, false), (["NO_COLOR": ""], true, true),
            (["CLICOLOR_FORCE": "1"], false, true), (["CLICOLOR_FORCE": "0"], false, false),
            (["CLICOLOR_FORCE": ""], false, false), (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], true, false),
            (["CLICOLOR_FORCE": "1", "TERM": "dumb"], true, true),
            (["CLICOLOR": "0"], true, false), (["CLICOLOR": "1"], false, false),
            (["TERM": "dumb"], true, false), (["TERM": "xterm"], true, true),
        ] as [([String: String], Bool, Bool)]
    )
    func colourFollowsTheEnvironment(environment: [String: String], isTerminal: Bool, isColoured: Bool) {
        #expect(Style.detect(isTerminal: isTerminal, environment: environment).isColoured == isColoured)
    }

    @Test func aPipeCannotRedraw() throws {
        let pipe = Pipe()
        #expect(!Terminal.canRedraw(pipe.fileHandleForWriting.fileDescriptor, environment: ["TERM": "xterm"]))
    }

    /// A pseudo-terminal can, unless it says that it is dumb.
    @Test func aTerminalCanRedrawUnlessItIsDumb() throws {
        // The string outlives the call.
        let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(Terminal.canRedraw(descriptor, environment: ["TERM": "xterm"]))
        #expect(!Terminal.canRedraw(descriptor, environment: ["TERM": "dumb"]))
    }

    @Test func whatCanBeWrittenIsNotTouchedByTheProbe() async throws {
        try await withTemporaryDirectory { directory in
            let new = directory.appendingPathComponent("new.json").path
            #expect(OutputProbe.refusal(new) == nil)
            #expect(!FileManager.default.fileExists(atPath: new))
            let old = directory.appendingPathComponent("old.json")
            try Data("kept".utf8).write(to: old)
            #expect(OutputProbe.refusal(old.path) == nil)
            #expect(try Data(contentsOf: old) == Data("kept".utf8))
            #expect(OutputProbe.refusal("/dev/null") == nil)
            #expect(FileManager.default.fileExists(atPath: "/dev/null"))
        }
    }

    @Test(.timeLimit(.minutes(1))) func aNamedPipeIsNotWaitedFor() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("pipe").path
            let made = unsafe mkfifo(path, 0o600)  // the string outlives the call
            try #require(made == 0)
            #expect(OutputProbe.refusal(path) == nil)
        }
    }

    @Test func whatCannotBeWrittenIsRefusedWithTheReason() async throws {
        try await withTemporaryDirectory { directory in
            #expect(OutputProbe.refusal(directory.path) == "Is a directory")
            #expect(OutputProbe.refusal("\(directory.path)/no/such/file") == "No such file or directory")
            #expect(OutputProbe.refusal("") == "No such file or directory")
        }
    }

    /// However a file is named: by another path, by a link, or before it is there.
    @Test func noFileIsWrittenOverAnotherOne() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.path
            let (read, link, hard) = ("\(path)/read.yaml", "\(path)/link.yaml", "\(path)/hard.yaml")
            try Data("kept".utf8).write(to: URL(fileURLWithPath: read))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: read)
            try FileManager.default.linkItem(atPath: read, toPath: hard)
            for other in [read, link, hard, "\(path)/./read.yaml"] {
                #expect(
                    FileIdentity.objection(outputs: [other], inputs: ["/dev/null", read])
                        == "\(other) would be written over \(read), which is read."
                )
            }
            let (new, same) = ("\(path)/new.json", "\(path)/../\(directory.lastPathComponent)/new.json")
            #expect(
                FileIdentity.objection(outputs: [new, same], inputs: [])
                    == "\(same) would be written over \(new), which is written too."
            )
            #expect(FileIdentity.objection(outputs: [new, "\(path)/new.html"], inputs: [read]) == nil)
            #expect(
                FileIdentity.objection(outputs: ["/dev/null", "/dev/null", "-", "/no/x", "/no/x"], inputs: []) == nil
            )
        }
    }

    /// What a command reads, and what it writes, as far as the command line names it.
    @Test(
        arguments: [
            ["run", "FILE", "--virtual", "--html", "FILE"], ["run", "FILE", "--virtual", "--csv", "TRACE"],
            ["run", "FILE", "--virtual", "--json", "NEW", "--log", "NEW"], ["compare", "FILE", "--json", "FILE"],
            ["check", "FILE", "--json", "FILE"], ["replay", "FILE", "--json", "FILE"],
            ["record", "FILE", "--json", "FILE", "--duration", "1ms"], ["bench", "--json", "NEW", "--html", "NEW"],
            ["worth", "--json", "NEW", "--svg", "NEW"],
        ]
    )
    func aCommandThatWouldLoseAFileDoesNothing(arguments: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let (file, trace) = ("\(directory.path)/file", "\(directory.path)/trace")
            let text = smallScenario.replacingOccurrences(
                of: "of: shelf/*",
                with: "of: shelf/*, pattern: {trace: trace}"
            )
            try text.write(toFile: file, atomically: false, encoding: .utf8)
            try "a\nb\n".write(toFile: trace, atomically: false, encoding: .utf8)
            let names = ["FILE": file, "TRACE": trace, "NEW": "\(directory.path)/new"]
            let outcome = try Tool.run(arguments.map { names[$0] ?? $0 })
            #expect(outcome.status == 2, "\(outcome)")
            #expect(outcome.errors.contains("would be written over"), "\(outcome)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            #expect(try String(contentsOfFile: trace, encoding: .utf8) == "a\nb\n")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 2)
        }
    }

    @Test func paragraphsFlowAndExamplesDoNot() {
        let text = """
            One sentence that
            goes on.

              an example   with blanks
              another one

            The end of
            it.
            """
        let flowing = "One sentence that goes on.\n\n  an example   with blanks\n  another one\n\nThe end of it."
        #expect(Prose.flowing(text) == flowing)
        #expect(Prose.flowing(flowing) == flowing)
        #expect(Prose.flowing("") == "")
    }
}
