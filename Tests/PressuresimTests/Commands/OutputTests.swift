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
