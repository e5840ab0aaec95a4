import Yams

/// `--set memory.cgroup_limit=64MiB`: a value in place of one in a scenario's file, or beside those that are there.
package struct ScenarioOverride: Hashable, Sendable {
    /// As it was written.
    package let text: String
    /// Keys of mappings; in lists the `name` of an element, or its place from 1.
    let path: [String]
    /// YAML.
    let value: String

    /// `nil` for a text that is not of the form `key.key=value`.
    package init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        let path = text[..<sign].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard !path.contains("") else { return nil }
        self.text = text
        self.path = path
        value = String(text[text.index(after: sign)...])
    }

    /// The tree with the value in it; reports where it has no such place.
    func apply(to node: Node, _ diagnostics: Diagnostics) -> Node {
        // Of a comparison such as >= 1 YAML would make a text of several lines.
        let isComparison = value.hasPrefix(">")
        guard let new = isComparison ? Node(value) : try? Yams.compose(yaml: value)?.withoutMarks else {
            diagnostics.report(at: .commandLine, found: "\"\(text)\"", allowed: "key=value, the value in YAML")
            return node
        }
        return put(new, at: path[...], in: node, diagnostics)
    }

    private func put(_ new: Node, at path: ArraySlice<String>, in node: Node, _ diagnostics: Diagnostics) -> Node {
        guard let key = path.first else { return new }
        let rest = path.dropFirst()
        switch node {
        case .mapping(let mapping):
            var pairs = mapping.map { ($0.key, $0.value) }
            let index = pairs.firstIndex { $0.0.text == key } ?? pairs.count
            // What is not there yet, and is not known there either, is found when the scenario is read.
            if index == pairs.count { pairs.append((Node(key), Node([(Node, Node)]()))) }
            pairs[index].1 = put(new, at: rest, in: pairs[index].1, diagnostics)
            return .mapping(.init(pairs, mapping.tag, mapping.style, mapping.mark))
        case .sequence(let sequence):
            var elements = Array(sequence)
            let names = elements.map { $0.mapping?["name"]?.text ?? "" }
            guard let index = names.firstIndex(of: key) ?? Int(key).map({ $0 - 1 }), elements.indices.contains(index)
            else {
                report(key, names.filter { !$0.isEmpty } + ["1 to \(elements.count)"], diagnostics)
                return node
            }
            elements[index] = put(new, at: rest, in: elements[index], diagnostics)
            return .sequence(.init(elements, sequence.tag, sequence.style, sequence.mark))
        default:
            report(key, ["a key of a mapping, or an element of a list"], diagnostics)
            return node
        }
    }

    private func report(_ key: String, _ allowed: [String], _ diagnostics: Diagnostics) {
        diagnostics.report(
            at: .commandLine,
            found: "no \"\(key)\" for \"\(text)\"",
            allowed: allowed.joined(separator: ", "),
            suggestion: Spelling.nearest(to: key, among: allowed)
        )
    }
}

extension Node {
    /// The same without a place in a file: it is in none.
    fileprivate var withoutMarks: Node {
        switch self {
        case .scalar(var scalar):
            scalar.mark = nil
            return .scalar(scalar)
        case .mapping(let mapping):
            return .mapping(.init(mapping.map { ($0.key.withoutMarks, $0.value.withoutMarks) }, mapping.tag))
        case .sequence(let sequence): return .sequence(.init(sequence.map(\.withoutMarks), sequence.tag))
        default: return self
        }
    }
}
