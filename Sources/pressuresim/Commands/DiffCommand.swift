import ArgumentParser
import Foundation
import ReportPages
import SampleContent

/// `pressuresim diff OLD NEW`.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say what became slower, or otherwise worse, from one run to another.",
        discussion: Prose.flowing(
            """
            Two files that pressuresim run --json has written: what changed by a twentieth or more, the worst first. In
            virtual time each difference is one of the library or of the scenario; in real time the machine has its share.

              pressuresim run shop.yaml --virtual --json new.json
              pressuresim diff old.json new.json
              pressuresim diff old.json new.json --at-most 10%

            Exit status: 0 told; 1 with --at-most: a duration grew by more, or a value was lost; 2 a file is no such JSON.
            """
        )
    )

    @Argument(help: "The run before, JSON of pressuresim run.", completion: .file(extensions: ["json"]))
    var old: String

    @Argument(help: "The run after.", completion: .file(extensions: ["json"]))
    var new: String

    @Option(
        help: ArgumentHelp("Fail when a duration grew by more, such as 10%.", valueName: "part"),
        transform: Self.part
    )
    var atMost: Double?

    @Flag(help: "Tell every change, however small.")
    var all = false

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    private static func part(_ text: String) throws -> Double {
        guard text.hasSuffix("%"), let number = Double(text.dropLast()), number.isFinite, number >= 0 else {
            throw ValidationError("\"\(text)\" must be a percentage, such as 10%.")
        }
        return number / 100
    }

    func run() throws {
        try CommandOutput.check(json, reading: [old, new])
        var difference: RunDifference
        do throws(ContentError) {
            difference = RunDifference(old: try .read(old), new: try .read(new))
        } catch {
            throw CommandOutput.fail("pressuresim: \(error.description)", .wrongInput)
        }
        if all { difference.threshold = 0 }
        if json != "-" { try CommandOutput.print(difference.text(.output)) }
        if let json { try CommandOutput.write(CommandJSON.encode(RunDifferenceJSON(difference)), to: json) }
        guard let atMost else { return }
        difference.threshold = 0
        let isWorse = !difference.slower(than: atMost).isEmpty || !difference.new.losses.isEmpty
        if isWorse { throw ExitStatus.expectationFailed.exitCode }
    }
}
