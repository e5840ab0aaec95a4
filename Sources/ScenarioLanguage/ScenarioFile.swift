import Foundation
import Yams

/// Reads scenario files: text to a checked ``Scenario``, or to everything that is wrong with it.
package enum ScenarioFile {
    /// A scenario of ten thousand steps is not half as long.
    package static let mostBytes = 1 << 20
    /// As many places as a file of that size has without aliases. With them a few lines can stand for any number.
    static let mostNodes = 200_000

    /// Reads a file, or standard input for `-`.
    ///
    /// - Parameter overrides: what takes the place of what is written there.
    /// - Throws: ``ScenarioError`` with all diagnostics.
    package static func read(
        path: String,
        setting overrides: [ScenarioOverride] = []
    ) throws(ScenarioError) -> Scenario {
        let data: Data
        do throws(BoundedInput.Refusal) {
            data = try path == "-" ? StandardInput.read(atMost: mostBytes) : BoundedInput.read(path, atMost: mostBytes)
        } catch {
            switch error {
            case .unreadable(let reason):
                throw unreadable(
                    path,
                    "no file that can be read: \(reason)",
                    "the path of a scenario file (see Scenarios/)"
                )
            case .tooLarge:
                throw unreadable(
                    path,
                    "a file of more than \(mostBytes / 1024) KiB",
                    "a scenario; a trace is a file of its own"
                )
            }
        }
        guard let text = String(data: data, encoding: .utf8) else {
            let diagnostic = Diagnostic(
                position: Position(line: data.firstLineThatIsNoText ?? 1, column: 1),
                found: "bytes that are not UTF-8",
                allowed: "a YAML file in UTF-8"
            )
            throw ScenarioError(file: path, diagnostics: [diagnostic])
        }
        return try parse(text, file: path, setting: overrides)
    }

    /// Reads text; `file` is only for messages and for relative paths in it.
    package static func parse(
        _ text: String,
        file: String,
        setting overrides: [ScenarioOverride] = []
    ) throws(ScenarioError) -> Scenario {
        let diagnostics = Diagnostics()
        if let line = AliasBound.excess(text) {
            throw unreadable(
                file,
                "aliases that stand for too much",
                "fewer of them: a count makes many of one",
                at: Position(line: line, column: 1)
            )
        }
        guard var node = compose(text, diagnostics) else {
            throw ScenarioError(file: file, diagnostics: diagnostics.list)
        }
        guard node.hasAtMost(mostNodes) else {
            throw unreadable(file, "more than \(mostNodes) keys and values", "fewer, with aliases followed")
        }
        for override in overrides { node = override.apply(to: node, diagnostics) }
        var scenario = Scenario.form.read(node, diagnostics)
        scenario?.overrides = overrides.map(\.text)
        if scenario != nil {
            var reader = TraceColumnsReader(file: file, diagnostics)
            scenario?.resolveColumns(with: &reader)
        }
        if let scenario { ScenarioCheck.run(scenario, file: file, diagnostics) }
        guard let scenario, diagnostics.list.isEmpty else {
            throw ScenarioError(file: file, diagnostics: diagnostics.list)
        }
        return scenario
    }

    private static func unreadable(
        _ path: String,
        _ found: String,
        _ allowed: String,
        at position: Position = .start
    ) -> ScenarioError {
        let diagnostic = Diagnostic(position: position, found: found, allowed: allowed)
        return ScenarioError(file: path, diagnostics: [diagnostic])
    }

    /// The document's root. YAML's own errors become diagnostics like all others.
    private static func compose(_ text: String, _ diagnostics: Diagnostics) -> Node? {
        do {
            if let node = try Yams.compose(yaml: text) { return node }
            diagnostics.report(at: .start, found: "an empty file", allowed: "a mapping for a scenario")
        } catch let error as YamlError {
            report(error, in: text, diagnostics)
        } catch {
            diagnostics.report(at: .start, found: "\(error)", allowed: "YAML")
        }
        return nil
    }

    private static func report(_ error: YamlError, in text: String, _ diagnostics: Diagnostics) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let line = mark.line <= lines.count ? lines[mark.line - 1] : ""
            let words = YamlWords.plain(problem, line: line, column: mark.column)
            let position = Position(line: mark.line, column: mark.column)
            diagnostics.report(at: position, found: words.found, allowed: words.allowed)
        case .reader(let problem, let offset, _, _):
            let before = text.prefix(offset ?? 0).unicodeScalars
            let column = before.reversed().prefix { $0 != "\n" }.count + 1
            let words = YamlWords.plain(problem, line: "", column: 1)
            let position = Position(line: before.count { $0 == "\n" } + 1, column: column)
            diagnostics.report(at: position, found: words.found, allowed: words.allowed)
        case .duplicatedKeysInMapping(let keys, let context):
            for key in keys {
                let first = Position(line: context.mark.line, column: context.mark.column)
                diagnostics.report(
                    at: second(key, after: first, in: text),
                    found: "\"\(key)\" for the second time",
                    allowed: "each key once"
                )
            }
        default:
            diagnostics.report(at: .start, found: "\(error)", allowed: "YAML")
        }
    }

    /// Where a key of the mapping that begins at `first` is repeated: YAML's parser only tells where the mapping begins.
    private static func second(_ key: String, after first: Position, in text: String) -> Position {
        let indent = String(repeating: " ", count: first.column - 1)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let hits = lines.indices.filter { index in
            index >= first.line - 1 && lines[index].dropFirst(indent.count).hasPrefix("\(key):")
        }
        return hits.count > 1 ? Position(line: hits[1] + 1, column: first.column) : first
    }
}

extension Node {
    /// Whether there are at most so many nodes, each alias counted as what it stands for. Takes no longer than that.
    fileprivate func hasAtMost(_ limit: Int) -> Bool {
        var left = limit
        return count(&left)
    }

    private func count(_ left: inout Int) -> Bool {
        left -= 1
        guard left >= 0 else { return false }
        switch self {
        case .mapping(let mapping):
            for (key, value) in mapping where !(key.count(&left) && value.count(&left)) { return false }
        case .sequence(let sequence):
            for element in sequence where !element.count(&left) { return false }
        default: break
        }
        return true
    }
}
