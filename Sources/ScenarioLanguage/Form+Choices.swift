import Yams

/// Forms of which one of several is chosen.
extension Form {
    /// A bare word that means a value.
    struct Word {
        var name: String
        var value: Value
        /// A sentence for the schema.
        var help: String

        init(_ name: String, _ value: Value, _ help: String) {
            (self.name, self.value, self.help) = (name, value, help)
        }

        /// `true` and `false` are no text in YAML.
        fileprivate var schema: OrderedJSON {
            let constant: OrderedJSON = name == "true" ? true : name == "false" ? false : .text(name)
            return ["const": constant, "description": .text(help)]
        }
    }

    /// A key that says what kind of thing its value is.
    struct Kind {
        var name: String
        var form: Form
        /// A sentence for the schema.
        var help: String

        init(_ name: String, _ form: Form, _ help: String) { (self.name, self.form, self.help) = (name, form, help) }
    }

    /// One of several words.
    static func word(_ words: [Word]) -> Form {
        let names = words.map(\.name)
        let allowed = names.joined(separator: ", ")
        return Form(allowed, schema: { _ in ["oneOf": .array(words.map(\.schema))] }) { node, diagnostics in
            if let text = node.text, let match = words.first(where: { $0.name == text }) { return match.value }
            let suggestion = node.text.flatMap { Spelling.nearest(to: $0, among: names) }
            diagnostics.report(node, allowed: allowed, suggestion: suggestion)
            return nil
        }
    }

    /// One of several kinds: either a bare word, or a mapping whose only key names the kind.
    static func kind(_ noun: String, words: [Word] = [], keyed: [Kind]) -> Form {
        let names = words.map(\.name) + keyed.map { "\($0.name): …" }
        let allowed = names.joined(separator: ", ")
        return Form(
            allowed,
            schema: { book in book.reference(to: noun) { Self.schema(words, keyed, book) } }
        ) { node, diagnostics in
            if let text = node.text {
                if let match = words.first(where: { $0.name == text }) { return match.value }
                let known = words.map(\.name) + keyed.map(\.name)
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
            if let kind = keyed.first(where: { $0.name == pair.key.text }) {
                return kind.form.read(pair.value, diagnostics)
            }
            let suggestion = pair.key.text.flatMap { Spelling.nearest(to: $0, among: keyed.map(\.name)) }
            diagnostics.report(
                pair.key,
                found: "unknown key \(pair.key.inWords)",
                allowed: allowed,
                suggestion: suggestion
            )
            return nil
        }
    }

    private static func schema(_ words: [Word], _ keyed: [Kind], _ book: SchemaBook) -> OrderedJSON {
        let properties = keyed.map { ($0.name, $0.form.schema(book).described($0.help)) }
        let mapping: OrderedJSON = [
            "type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
            "properties": .object(properties.map { (key: $0.0, value: $0.1) }),
        ]
        return words.isEmpty ? mapping : ["oneOf": .array(words.map(\.schema) + [mapping])]
    }
}
