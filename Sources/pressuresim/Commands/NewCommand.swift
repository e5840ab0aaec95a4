import ArgumentParser
import Foundation

/// `pressuresim new FILE`.
struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Write a scenario to begin with, explained line by line.",
        discussion: Prose.flowing(
            """
            It is right as it is, and played in some seconds. Change it into your app. What is there already is never
            written over.

              pressuresim new shop.yaml
              pressuresim new - | less

            Exit status: 0 written; 2 the file is there already; 3 it cannot be written.
            """
        )
    )

    @Argument(help: "The file; - is standard output.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    func run() throws {
        let title = file == "-" ? "My app" : URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
        // As YAML wants it between double quotes.
        let name = title.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let text = ScenarioTemplate.text(name: name) + "\n"
        guard file != "-" else { return try CommandOutput.write(Data(text.utf8), to: file) }
        if FileManager.default.fileExists(atPath: file) {
            throw CommandOutput.fail("pressuresim: \(file) is there already. Name another file.", .wrongInput)
        }
        try CommandOutput.write(Data(text.utf8), to: file)
        try CommandOutput.print("\(file) is written. Next: pressuresim run \(file)")
    }
}

/// `pressuresim scenario`.
struct ScenarioCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "How to write a scenario, and how to read an account.",
        discussion: Prose.flowing(
            """
            The language on a few screens: keys, steps, figures, and what the lines of an account mean.

              pressuresim scenario | less

            Exit status: 0.
            """
        )
    )

    func run() throws { try CommandOutput.print(ScenarioTopic.text) }
}
