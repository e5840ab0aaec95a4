import ArgumentParser
import Foundation
import ScenarioLanguage

/// `pressuresim schema`: how `Scenarios/scenario.schema.json` is made.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the scenario language.",
        discussion: """
            For editors, which complete and explain scenarios with it:

              pressuresim schema > Scenarios/scenario.schema.json

            It is made from the same declarations that read scenarios.

            Exit status: 0 printed; 3 the output cannot be written to.
            """
    )

    func run() throws { try CommandOutput.write(Data("\(Scenario.schema.text)\n".utf8), to: "-") }
}
