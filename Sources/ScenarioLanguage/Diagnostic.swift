import Yams

/// A place in a scenario file. Lines and columns count from 1.
package struct Position: Hashable, Sendable {
    package var line: Int
    package var column: Int

    /// The first character of the file.
    static let start = Position(line: 1, column: 1)

    /// No place in the file: what `--set` says.
    static let commandLine = Position(line: 0, column: 0)

    init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Where a node begins. Only those of `--set` have no mark.
    init(_ node: Node) {
        self = node.mark.map { Position(line: $0.line, column: $0.column) } ?? .commandLine
    }
}

/// One thing that is wrong in a scenario file: where, what was found, what may stand there instead.
package struct Diagnostic: Hashable, Sendable {
    /// Where it was found.
    package var position: Position
    /// What was found, such as `unknown key "visable"`.
    package var found: String
    /// What may stand there.
    package var allowed: String
    /// The nearest right spelling, when one is near.
    package var suggestion: String?

    /// `file:line:column: found X; allowed here: Y; did you mean "Z"?`
    package func description(in file: String) -> String {
        let hint = suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
        let place = position == .commandLine ? "--set" : "\(file):\(position.line):\(position.column)"
        return "\(place): found \(found); allowed here: \(allowed)\(hint)"
    }
}

/// Collects what is wrong, so that one run of the tool tells all of it.
final class Diagnostics {
    private(set) var list: [Diagnostic] = []

    /// Adds one.
    func report(at position: Position, found: String, allowed: String, suggestion: String? = nil) {
        list.append(Diagnostic(position: position, found: found, allowed: allowed, suggestion: suggestion))
    }

    /// Adds one about a node.
    func report(_ node: Node, found: String? = nil, allowed: String, suggestion: String? = nil) {
        report(at: Position(node), found: found ?? node.inWords, allowed: allowed, suggestion: suggestion)
    }
}

/// A scenario that cannot be played: every diagnostic, in the order of the file.
package struct ScenarioError: Error, Hashable, CustomStringConvertible {
    /// The path as the user gave it.
    var file: String
    package var diagnostics: [Diagnostic]

    init(file: String, diagnostics: [Diagnostic]) {
        self.file = file
        self.diagnostics = diagnostics.sorted {
            ($0.position.line, $0.position.column) < ($1.position.line, $1.position.column)
        }
    }

    /// One line for each diagnostic.
    package var description: String {
        diagnostics.map { $0.description(in: file) }.joined(separator: "\n")
    }
}

extension Node {
    /// What this node is, for a message: `"text"`, a mapping, a list, nothing.
    var inWords: String {
        switch self {
        case .scalar(let scalar) where scalar.style == .plain && scalar.string.isEmpty: "nothing"
        case .scalar(let scalar): "\"\(String(scalar.string.prefix(60)).visible)\""
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .alias: "an alias"
        }
    }

    /// The text of a scalar that is not empty.
    var text: String? {
        guard let text = scalar?.string, !text.isEmpty else { return nil }
        return text
    }
}
