import ArgumentParser
import Foundation
import PressureKit

/// `pressuresim doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say which pressure signals work here, which limits bind, and what would fire now.",
        discussion: Prose.flowing(
            """
            Run it where the app runs: in its container, as its user, in its service. Each signal is opened and armed as an
            app's monitor would, so that what it says was tried and not guessed, and what is missing comes with what would
            provide it.

              pressuresim doctor
              pressuresim doctor --json doctor.json

            Exit status: 0 at least one signal works; 2 the input is wrong; 3 none does, and an app would be blind here.
            """
        )
    )

    @Option(help: .json, completion: .file(extensions: ["json"]))
    var json: String?

    func run() async throws {
        try CommandOutput.check(json)
        // It waits, which cooperative threads must not.
        let diagnosis = try await Blocking.run("doctor") { try Doctor().diagnose() }
        if json != "-" {
            try CommandOutput.print(DiagnosisText(diagnosis: diagnosis, style: .output).text)
        }
        if let json { try CommandOutput.write(CommandJSON.encode(DiagnosisJSON(diagnosis)), to: json) }
    }
}
