import ArgumentParser
import Foundation

/// `pressuresim manual DIRECTORY`: what `make man` and `make install` run. Nobody else needs to.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the manual pages into a directory.",
        discussion: Prose.flowing(
            """
            A page for the tool and one for each command, made from what --help says.

              pressuresim manual man/man1

            Exit status: 0 written; 2 the input is wrong; 3 the directory cannot be written to.
            """
        )
    )

    @Argument(help: "The directory, which is made if it is not there.", completion: .directory)
    var directory: String

    func run() throws {
        let tool = try ToolDescription.current()
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            let message = "pressuresim: \(directory) cannot be made: \(error.reason). Name another one."
            throw CommandOutput.fail(message, .environmentRefused)
        }
        for page in ManualPage.all(of: tool) {
            try CommandOutput.write(Data(page.text.utf8), to: "\(directory)/\(page.fileName)")
        }
    }
}
