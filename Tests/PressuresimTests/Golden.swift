import Foundation
import Testing

/// What the tool must say, word for word, kept in files beside the tests.
enum Golden {
    /// Where the files are.
    static let directory = packageDirectory.appendingPathComponent("Tests/PressuresimTests/Fixtures")

    /// A file's text.
    static func text(_ name: String) throws -> String {
        try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
    }

    /// Compares a text with a file. With `PRESSUREKIT_UPDATE_GOLDEN` in the environment the file is written instead:
    /// then read the difference before you commit it.
    static func expect(_ text: String, equals name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        if ProcessInfo.processInfo.environment["PRESSUREKIT_UPDATE_GOLDEN"] != nil {
            try Data(text.utf8).write(to: directory.appendingPathComponent(name))
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let expected = try Self.text(name).split(separator: "\n", omittingEmptySubsequences: false)
        for (line, wanted) in zip(lines, expected) {
            #expect(line == wanted, "\(name)", sourceLocation: sourceLocation)
        }
        #expect(lines.count == expected.count, "\(name)", sourceLocation: sourceLocation)
    }
}
