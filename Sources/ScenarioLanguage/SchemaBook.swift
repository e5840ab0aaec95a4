/// Collects the JSON Schema of the scenario language from the forms that read it, so that the two cannot differ.
///
/// What has a name of its own is written once and referred to; so a form may contain itself.
final class SchemaBook {
    private var names: [String] = []
    private var definitions: [String: OrderedJSON] = [:]

    /// A reference to the schema called after `noun`, which is made when it is asked for the first time.
    func reference(to noun: String, _ make: () -> OrderedJSON) -> OrderedJSON {
        let name = Self.name(noun)
        if !names.contains(name) {
            names.append(name)
            definitions[name] = make()
        }
        return ["$ref": .text("#/$defs/\(name)")]
    }

    /// `"a cgroup limit"` is called `cgroup_limit`.
    private static func name(_ noun: String) -> String {
        let words = noun.split(separator: " ").drop { ["a", "an", "the"].contains($0) }
        return words.joined(separator: "_")
    }

    /// The whole schema: draft 2020-12.
    static func schema<Value>(of form: Form<Value>, title: String, description: String) -> OrderedJSON {
        let book = SchemaBook()
        let root = form.schema(book)
        var keywords: [(key: String, value: OrderedJSON)] = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema"), ("title", .text(title)),
            ("description", .text(description)),
        ]
        if case .object(let own) = root { keywords += own }
        let definitions = book.names.map { ($0, book.definitions[$0] ?? true) }
        keywords.append(("$defs", .object(definitions)))
        return .object(keywords)
    }
}

extension OrderedJSON {
    /// A schema with a sentence for whoever points at it in an editor.
    func described(_ help: String) -> OrderedJSON { beginning(with: "description", .text(help)) }

    /// The schema of a scalar that matches a regular expression as a whole, when it is written as text.
    package static func pattern(_ expression: String) -> OrderedJSON {
        ["type": "string", "pattern": .text("^\(expression)$")]
    }
}

extension Scenario {
    /// The schema of the language, as `Scenarios/scenario.schema.json` has it.
    package static var schema: OrderedJSON {
        SchemaBook.schema(
            of: form,
            title: "A PressureKit scenario",
            description: "What `pressuresim run` plays. Scenarios/README.md documents the language."
        )
    }
}
