import Foundation
import Testing

@testable import pressuresim

/// The manual pages and completions, made from what help says.
@Suite(.timeLimit(.minutes(3))) struct ManualTests {
    private static func pages() throws -> [ManualPage] {
        ManualPage.all(of: try ToolDescription.current())
    }

    @Test func thereIsAPageForEachCommandWithAllItsOptions() throws {
        let tool = try ToolDescription.current()
        let pages = try Self.pages()
        #expect(pages.map(\.name) == ["pressuresim"] + tool.command.visible.map { "pressuresim-\($0.commandName)" })
        for (page, command) in zip(pages.dropFirst(), tool.command.visible) {
            for argument in command.visibleArguments {
                for name in argument.names ?? [] {
                    #expect(page.text.contains("\\fB\(Roff.escaped(name.text))\\fR"), "\(page.name) \(name.text)")
                }
            }
        }
        #expect(!pages.contains { $0.text.contains("signals-child") })
    }

    /// Nothing in a text may become a request of troff's, an escape, or a character that a shell does not know.
    @Test(arguments: [
        (".br", "\\&.br"), ("a\\b", "a\\eb"), ("--json", "\\-\\-json"), ("it's", "it\\(aqs"), ("^C", "\\(haC"),
        ("\"x\"", "\\(dqx\\(dq"), ("µs", "\\[u00B5]s"), ("`x`", "\\(gax\\(ga"), ("10^6", "10\\(ha6"), ("", ""),
    ])
    func textIsEscaped(text: String, escaped: String) { #expect(Roff.escaped(text) == escaped) }

    @Test func paragraphsFlowAndExamplesAreSetAsTheyAre() {
        let lines = Roff.paragraphs("One.\n\n  a  b\n  c\n\nTwo\nthree.")
        #expect(lines == [".PP", "One.", ".PP", ".EX", "  a  b", "  c", ".EE", ".PP", "Two", "three."])
        #expect(Roff.paragraphs("", isFirst: true) == [])
        #expect(Roff.paragraphs("x", isFirst: true) == ["x"])
    }

    /// Where there is a troff: `man --warnings` is this with a pager.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")))
    func groffHasNothingToComplainAbout() async throws {
        try await withTemporaryDirectory { directory in
            let made = try Tool.run(["manual", directory.path])
            #expect(made.status == 0, "\(made)")
            for page in try Self.pages() {
                let process = Process()
                let (output, errors) = (Pipe(), Pipe())
                process.executableURL = URL(fileURLWithPath: "/usr/bin/groff")
                let file = directory.appendingPathComponent(page.fileName).path
                process.arguments = ["-man", "-ww", "-Tutf8", "-P-c", "-P-b", "-P-u", file]
                process.standardOutput = output
                process.standardError = errors
                try process.run()
                let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                #expect(complaints.isEmpty, "\(page.name): \(String(decoding: complaints, as: UTF8.self))")
                #expect(
                    text.contains("\(page.name) - ") || text.contains("\(page.name) \u{2013} "),
                    "\(text.prefix(400))"
                )
                #expect(text.contains("Exit status"), "\(page.name)")
            }
        }
    }

    @Test func aDirectoryThatCannotBeMadeIsThree() throws {
        let outcome = try Tool.run(["manual", "/dev/null/man"])
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("/dev/null/man"))
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func thereAreCompletions(shell: String) throws {
        let outcome = try Tool.run(["--generate-completion-script", shell])
        #expect(outcome.status == 0)
        for word in ["compare", "--spill-directory", "check"] {
            // fish names long options without their dashes.
            #expect(outcome.output.contains(word.replacing("--", with: "")), "\(word)")
        }
        #expect(try Tool.run(["--generate-completion-script", "cmd"]).status == 2)
    }

    /// The script completes what the tool has.
    @Test func bashCompletesCommandsAndOptions() async throws {
        try await withTemporaryDirectory { directory in
            let script = directory.appendingPathComponent("completions")
            let outcome = try Tool.run(["--generate-completion-script", "bash"])
            try Data(outcome.output.utf8).write(to: script)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/bash")
            let words = """
                . "$0"
                COMP_WORDS=(pressuresim com); COMP_CWORD=1; COMP_LINE="pressuresim com"; COMP_POINT=15
                COMPREPLY=(); _pressuresim pressuresim com pressuresim; echo "${COMPREPLY[@]}"
                """
            process.arguments = ["-c", words, script.path]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(text.contains("compare"), "\(text)")
        }
    }
}
