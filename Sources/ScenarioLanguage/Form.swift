import Yams

/// What may stand in one place of a scenario file, how it is read, and how a schema describes it.
///
/// A form that does not fit reports why to the diagnostics and returns nil; reading then goes on with the next place.
/// Forms are small and compose: the whole language is forms within forms, each beside the type it reads.
package struct Form<Value> {
    /// What is allowed, as a message says it.
    package let allowed: String
    /// What is allowed, as JSON Schema says it: never less than what is read, and as near to it as that can say.
    let schema: (SchemaBook) -> OrderedJSON
    /// Reads a node.
    let read: (Node, Diagnostics) -> Value?

    init(
        _ allowed: String,
        schema: @escaping (SchemaBook) -> OrderedJSON,
        read: @escaping (Node, Diagnostics) -> Value?
    ) {
        self.allowed = allowed
        self.schema = schema
        self.read = read
    }

    /// A scalar that `parse` understands.
    static func scalar(_ allowed: String, schema: OrderedJSON, parse: @escaping (String) -> Value?) -> Form {
        Form(allowed, schema: { _ in schema }) { node, diagnostics in
            if let text = node.text, let value = parse(text) { return value }
            diagnostics.report(node, allowed: allowed)
            return nil
        }
    }

    /// The same form for another type of value.
    func map<Other>(_ transform: @escaping (Value) -> Other) -> Form<Other> {
        Form<Other>(allowed, schema: schema) { node, diagnostics in read(node, diagnostics).map(transform) }
    }

    /// The same form, with a last look at what was read: `problem` says what is allowed instead of what it does not like.
    func checked(_ problem: @escaping (Value) -> String?) -> Form {
        Form(allowed, schema: schema) { node, diagnostics in
            guard let value = read(node, diagnostics) else { return nil }
            guard let allowed = problem(value) else { return value }
            diagnostics.report(node, allowed: allowed)
            return nil
        }
    }

    /// The value together with where it stood, for what can only be checked once the whole file is read.
    var marked: Form<Marked<Value>> {
        Form<Marked<Value>>(allowed, schema: schema) { node, diagnostics in
            read(node, diagnostics).map { Marked(value: $0, position: Position(node)) }
        }
    }

    /// A list, every element of one form.
    static func list<Element>(of element: Form<Element>, _ noun: String, _ count: ClosedRange<Int>) -> Form
    where Value == [Element] {
        let least = count.lowerBound > 0 ? "\(count.lowerBound) to" : "at most"
        let allowed = "a list of \(least) \(count.upperBound) \(noun)"
        return Form(
            "a list of \(noun)",
            schema: { book in
                let items = element.schema(book)
                return [
                    "type": "array", "minItems": .whole(count.lowerBound), "maxItems": .whole(count.upperBound),
                    "items": items,
                ]
            }
        ) { node, diagnostics in
            guard let sequence = node.sequence else {
                diagnostics.report(node, allowed: "a list of \(noun)")
                return nil
            }
            guard count.contains(sequence.count) else {
                diagnostics.report(node, found: "a list of \(sequence.count) \(noun)", allowed: allowed)
                return nil
            }
            return sequence.compactMap { element.read($0, diagnostics) }
        }
    }

    /// A mapping, read key by key. `read` asks the section for the keys it knows, all of them in every case; every other
    /// key is reported.
    static func mapping(_ noun: String, read: @escaping (Section) -> Value?) -> Form {
        Form(
            "a mapping for \(noun)",
            schema: { book in
                book.reference(to: noun) {
                    let section = Section(noun: noun, describedIn: book)
                    _ = read(section)
                    return section.schema
                }
            }
        ) { node, diagnostics in
            guard let section = Section(node, noun: noun, diagnostics: diagnostics) else { return nil }
            let value = read(section)
            section.reportUnknownKeys()
            return value
        }
    }

    /// A short form for a scalar, a long form for a mapping.
    static func either(scalar: Form, mapping: Form) -> Form {
        let allowed = "\(scalar.allowed), or \(mapping.allowed)"
        return Form(allowed, schema: { ["oneOf": [scalar.schema($0), mapping.schema($0)]] }) { node, diagnostics in
            switch node {
            case .scalar where node.text != nil: return scalar.read(node, diagnostics)
            case .mapping: return mapping.read(node, diagnostics)
            default:
                diagnostics.report(node, allowed: allowed)
                return nil
            }
        }
    }
}

/// A value and where it stood in the file.
package struct Marked<Value> {
    package var value: Value
    var position: Position
}

extension Marked: Sendable where Value: Sendable {}
