import Foundation
import PressureKit
import ScenarioLanguage

/// Scenarios that the command line names.
enum ScenarioInput {
    /// Reads a scenario, with what the command line has instead of what it says.
    ///
    /// - Throws: status 2 with everything that is wrong with it said.
    static func read(
        _ file: String,
        seed: UInt64? = nil,
        spillDirectory: String? = nil,
        setting texts: [String] = []
    ) throws -> Scenario {
        let overrides = texts.compactMap(ScenarioOverride.init)
        do {
            var scenario = try ScenarioFile.read(path: file, setting: overrides)
            if let seed { scenario.seed = seed }
            if let spillDirectory { scenario.spill.directory = spillDirectory }
            return scenario
        } catch {
            throw CommandOutput.fail(error.description, .wrongInput)
        }
    }
}
