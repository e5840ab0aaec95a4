import ArgumentParser
import Foundation
import PressureKit
import ScenarioLanguage

/// `pressuresim replay FILE`.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Play recorded signals through the library's decisions, on their own clock.",
        discussion: Prose.flowing(
            """
            Says when the level would have changed and why, and when how much would have been asked for. It takes no longer
            than the computing does, and comes out the same each time, byte for byte.

              pressuresim record night.signals
              pressuresim replay night.signals

            The recording is text; each line is an event, and the library's documentation describes it.

            Exit status: 0 played; 2 the file is no recording (the message names the line).
            """
        )
    )

    @Argument(help: "The recording; - is standard input.", completion: .file())
    var file: String

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    func run() throws {
        try CommandOutput.check(json, reading: [file])
        let replay = try Replay(read(), file: file)
        if json != "-" { try CommandOutput.print(replay.text(.output)) }
        if let json { try CommandOutput.write(CommandJSON.encode(replay), to: json) }
    }

    private func read() throws -> SignalRecording {
        let data: Data
        do throws(BoundedInput.Refusal) {
            let most = SignalRecording.mostBytes
            data =
                try file == "-"
                ? BoundedInput.read(.standardInput, atMost: most, if: SignalRecording.mayBegin)
                : BoundedInput.read(file, atMost: most, if: SignalRecording.mayBegin)
        } catch {
            let reason =
                switch error {
                case .tooLarge: "has more than \(SignalRecording.mostBytes >> 20) MiB"
                case .unreadable(let reason): "cannot be read: \(reason)"
                }
            throw CommandOutput.fail("\(file): \(reason). Name a file that pressuresim record wrote.", .wrongInput)
        }
        do {
            return try SignalRecording(parsing: Array(data))
        } catch {
            throw CommandOutput.fail("\(file):\(error.line): \(error.message)", .wrongInput)
        }
    }
}

extension SignalRecording {
    /// Whether a recording may begin so; the rest of another file need not be read.
    fileprivate static func mayBegin(_ data: Data) -> Bool {
        let mark = data.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return data.dropFirst(mark).starts(with: header.utf8) || data.count < header.utf8.count + mark
    }
}
