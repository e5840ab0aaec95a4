import ArgumentParser
import Foundation

/// How every command's facts become JSON: keys in snake case and in order, so that two files can be compared by eye.
enum CommandJSON {
    /// The facts with the version of the tool that found them, which is beside their own keys.
    private struct Versioned<Facts: Encodable>: Encodable {
        enum Key: CodingKey { case toolVersion }

        let facts: Facts

        func encode(to encoder: any Encoder) throws {
            try facts.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(ToolVersion.current, forKey: .toolVersion)
        }
    }

    /// The text, with a line end.
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return try encoder.encode(Versioned(facts: value)) + Data("\n".utf8)
    }
}

extension ArgumentHelp {
    /// Every command's `--json`.
    static let json = ArgumentHelp(
        "Write the same facts as JSON to this file; - is standard output.",
        valueName: "path"
    )
}
