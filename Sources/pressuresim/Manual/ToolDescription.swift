import ArgumentParser
import Foundation

/// What `--experimental-dump-help` of ArgumentParser says about the tool: the one place that knows every option.
struct ToolDescription: Decodable {
    var command: Command

    struct Command: Decodable {
        var commandName: String
        var abstract: String?
        var discussion: String?
        var shouldDisplay: Bool?
        var subcommands: [Command]?
        var arguments: [Argument]?

        /// Those that help shows, without ArgumentParser's own.
        var visible: [Command] { (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" } }

        /// Those that help shows.
        var visibleArguments: [Argument] { (arguments ?? []).filter { $0.shouldDisplay != false } }
    }

    struct Argument: Decodable {
        struct Name: Decodable {
            /// `long`, `short` or `longWithSingleDash`.
            var kind: String
            var name: String

            var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
        }

        /// `positional`, `option` or `flag`.
        var kind: String
        var shouldDisplay: Bool?
        var isOptional: Bool?
        var isRepeating: Bool?
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var abstract: String?
        var discussion: String?

        /// Every command has it.
        var isHelp: Bool { (names ?? []).contains { $0.name == "help" } }
    }

    /// Of this tool.
    ///
    /// - Throws: as ``init(json:)``.
    static func current() throws -> ToolDescription { try ToolDescription(json: Pressuresim._dumpHelp()) }

    /// - Throws: when ArgumentParser's format is another one.
    init(json: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(json.utf8)) }
}
