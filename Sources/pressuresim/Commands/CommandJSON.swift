import ArgumentParser
import Foundation

/// How every command's facts become JSON: keys in snake case and in order, so that two files can be compared by eye.
enum CommandJSON {
    /// The text, with a line end.
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return try encoder.encode(value) + Data("\n".utf8)
    }
}

extension ArgumentHelp {
    /// Every command's `--json`.
    static let json = ArgumentHelp(
        "Write the same facts as JSON to this file; - is standard output.",
        valueName: "path"
    )
}
