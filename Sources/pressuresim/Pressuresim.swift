import ArgumentParser
import Foundation

@main
struct Pressuresim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pressuresim",
        abstract: "Plays memory-pressure scenarios against PressureKit and measures eviction and restore latency.",
        subcommands: [
            RunCommand.self, BenchCommand.self, DoctorCommand.self, WatchCommand.self, RecordCommand.self,
            ReplayCommand.self, HogCommand.self, SurviveCommand.self,
            SignalsChildCommand.self, SchemaCommand.self,
        ]
    )

    /// Runs the command that the arguments name.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            // ArgumentParser ends with 64 for wrong arguments; here wrong input is 2, whatever it is.
            guard exitCode(for: error) == .validationFailure else { Self.exit(withError: error) }
            FileHandle.standardError.write(Data("\(fullMessage(for: error))\n".utf8))
            Foundation.exit(ExitStatus.wrongInput.rawValue)
        }
    }
}
