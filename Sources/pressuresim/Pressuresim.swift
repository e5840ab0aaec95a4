import ArgumentParser
import Foundation
import Glibc
import ScenarioLanguage

@main
struct Pressuresim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pressuresim",
        abstract: "Plays memory-pressure scenarios against PressureKit and measures eviction and restore latency.",
        discussion: Prose.flowing(
            """
            Start here. A scenario is a YAML file that describes an app: what it holds, how that is read, when memory runs
            short, and what you expect.

              pressuresim new shop.yaml       write one to begin with, all explained
              pressuresim check shop.yaml     say all that is wrong with it
              pressuresim run shop.yaml       play it, and say what happened
              pressuresim compare shop.yaml   the same under other orders of eviction
              pressuresim scenario            how to write one, how to read the account

            About this machine:

              pressuresim doctor              which pressure signals work here
              pressuresim watch               what they say now, live
              pressuresim hog --ceiling 1GiB  take memory from everybody, and give it back

            About a process that runs, started with PRESSUREKIT_CONTROL=1 in its environment:

              pressuresim status 4711         how it stands
              pressuresim neighbours          which processes share a limit, and how
              pressuresim warn 4711 critical  a memory warning, as if the system had given it

            Exit status, of every command: 0 done, and what was expected holds; 1 an expectation failed; 2 the input is
            wrong (the message says where and what is allowed there); 3 the environment refused (the message says what to
            do). 130 after ^C: what was known by then is printed; a second ^C ends at once.

            Text is coloured on a terminal. NO_COLOR=1 turns that off, CLICOLOR_FORCE=1 turns it on in a pipe as well.
            """
        ),
        version: ToolVersion.generator,
        groupedSubcommands: [
            CommandGroup(
                name: "Scenario",
                subcommands: [
                    RunCommand.self, CompareCommand.self, DiffCommand.self, NewCommand.self, CheckCommand.self,
                    ScenarioCommand.self,
                ]
            ),
            CommandGroup(
                name: "Machine",
                subcommands: [DoctorCommand.self, WatchCommand.self, RecordCommand.self, ReplayCommand.self]
            ),
            CommandGroup(
                name: "Process",
                subcommands: [
                    StatusCommand.self, NeighboursCommand.self, WarnCommand.self, EvictCommand.self,
                    BackgroundCommand.self,
                    ForegroundCommand.self,
                ] + remoteCommands
            ),
            CommandGroup(
                name: "Measurement",
                subcommands: [
                    BenchCommand.self, WorthCommand.self, SurviveCommand.self, HogCommand.self, SoakCommand.self,
                ]
            ),
            CommandGroup(name: "Files", subcommands: [SchemaCommand.self, ManualCommand.self]),
            CommandGroup(name: "Hidden", subcommands: [SignalsChildCommand.self]),
        ]
    )

    /// Only with the package trait `Redis`.
    private static var remoteCommands: [any ParsableCommand.Type] {
        #if Redis
        [RemoteCommand.self]
        #else
        []
        #endif
    }

    /// Runs the command that the arguments name.
    static func main() async {
        ParentProcess.follow()
        // A reader who leaves is met where something is written: a run may have other files to write yet.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Foundation.exit(end(error).rawValue)
        }
    }

    /// Says what there is to say about an error and what status it is. ArgumentParser's own would be 64 for wrong
    /// arguments and 1 for all else.
    private static func end(_ error: any Error) -> ExitCode {
        // It was said already.
        if let code = error as? ExitCode { return code }
        do {
            switch exitCode(for: error) {
            case .success:
                try CommandOutput.print(fullMessage(for: error))
                return .success
            case .validationFailure:
                let message = fullMessage(for: error)
                let suggestion = MistypedCommand.suggestion(for: Array(CommandLine.arguments.dropFirst()))
                return CommandOutput.fail(suggestion.map { "\($0)\n\(message)" } ?? message, .wrongInput)
            default:
                return CommandOutput.fail("pressuresim: \(error.words)", .environmentRefused)
            }
        } catch {
            return error as? ExitCode ?? ExitStatus.environmentRefused.exitCode
        }
    }
}
