import Yams

/// What may stand in one place of a scenario file, and how it is read.
///
/// A form that does not fit reports why to the diagnostics and returns nil; reading then goes on with the next place.
/// Forms are small and compose: the whole language is forms within forms, each beside the type it reads.
struct Form<Value> {
    /// What is allowed, as a message says it.
    let allowed: String
    /// Reads a node.
    let read: (Node, Diagnostics) -> Value?

    init(_ allowed: String, read: @escaping (Node, Diagnostics) -> Value?) {
        self.allowed = allowed
        self.read = read
    }

    /// A scalar that `parse` understands.
    static func scalar(_ allowed: String, parse: @escaping (String) -> Value?) -> Form {
        Form(allowed) { node, diagnostics in
            if let text = node.text, let value = parse(text) { return value }
            diagnostics.report(node, allowed: allowed)
            return nil
        }
    }

    /// The same form for another type of value.
    func map<Other>(_ transform: @escaping (Value) -> Other) -> Form<Other> {
        Form<Other>(allowed) { node, diagnostics in read(node, diagnostics).map(transform) }
    }

    /// The value together with where it stood, for what can only be checked once the whole file is read.
    var marked: Form<Marked<Value>> {
        Form<Marked<Value>>(allowed) { node, diagnostics in
            read(node, diagnostics).map { Marked(value: $0, position: Position(node)) }
        }
    }

    /// One of several words.
    static func word(_ words: [(String, Value)]) -> Form {
        let names = words.map(\.0)
        let allowed = names.joined(separator: ", ")
        return Form(allowed) { node, diagnostics in
            if let text = node.text, let match = words.first(where: { $0.0 == text }) { return match.1 }
            let suggestion = node.text.flatMap { Spelling.nearest(to: $0, among: names) }
            diagnostics.report(node, allowed: allowed, suggestion: suggestion)
            return nil
        }
    }

    /// A list, every element of one form.
    static func list<Element>(of element: Form<Element>, _ noun: String) -> Form where Value == [Element] {
        Form("a list of \(noun)") { node, diagnostics in
            guard let sequence = node.sequence else {
                diagnostics.report(node, allowed: "a list of \(noun)")
                return nil
            }
            return sequence.compactMap { element.read($0, diagnostics) }
        }
    }

    /// A mapping, read key by key. `read` asks the section for the keys it knows; every other key is reported.
    static func mapping(_ noun: String, read: @escaping (Section) -> Value?) -> Form {
        Form("a mapping for \(noun)") { node, diagnostics in
            guard let section = Section(node, noun: noun, diagnostics: diagnostics) else { return nil }
            let value = read(section)
            section.reportUnknownKeys()
            return value
        }
    }

    /// A short form for a scalar, a long form for a mapping.
    static func either(scalar: Form, mapping: Form) -> Form {
        let allowed = "\(scalar.allowed), or \(mapping.allowed)"
        return Form(allowed) { node, diagnostics in
            switch node {
            case .scalar where node.text != nil: return scalar.read(node, diagnostics)
            case .mapping: return mapping.read(node, diagnostics)
            default:
                diagnostics.report(node, allowed: allowed)
                return nil
            }
        }
    }

    /// One of several kinds: either a bare word, or a mapping whose only key names the kind.
    static func kind(_ noun: String, words: [(String, Value)], keyed: [(String, Form)]) -> Form {
        let names = words.map(\.0) + keyed.map { "\($0.0): …" }
        let allowed = names.joined(separator: ", ")
        return Form(allowed) { node, diagnostics in
            if let text = node.text {
                if let match = words.first(where: { $0.0 == text }) { return match.1 }
                let known = words.map(\.0) + keyed.map(\.0)
                let suggestion = Spelling.nearest(to: text, among: known)
                diagnostics.report(node, allowed: allowed, suggestion: suggestion)
                return nil
            }
            guard let mapping = node.mapping, let pair = mapping.first else {
                diagnostics.report(node, allowed: allowed)
                return nil
            }
            guard mapping.count == 1 else {
                let keys = mapping.compactMap { $0.key.text }.joined(separator: ", ")
                diagnostics.report(
                    node,
                    found: "\(noun) with \(mapping.count) keys (\(keys))",
                    allowed: "exactly one of \(allowed), with what belongs to it indented further"
                )
                return nil
            }
            if let form = keyed.first(where: { $0.0 == pair.key.text })?.1 {
                return form.read(pair.value, diagnostics)
            }
            let suggestion = pair.key.text.flatMap { Spelling.nearest(to: $0, among: keyed.map(\.0)) }
            diagnostics.report(
                pair.key,
                found: "unknown key \(pair.key.inWords)",
                allowed: allowed,
                suggestion: suggestion
            )
            return nil
        }
    }
}

/// A value and where it stood in the file.
struct Marked<Value> {
    var value: Value
    var position: Position
}

extension Marked: Sendable where Value: Sendable {}
