import Yams

/// One mapping: hands out the values of known keys while it is read, and reports the unknown ones; or takes down which
/// keys there are, for the schema.
///
/// Both from the same calls, so every key is asked for in every case: a form that has failed with one reads on.
final class Section {
    /// What the mapping describes, such as "a cache".
    let noun: String
    let position: Position
    let diagnostics: Diagnostics
    private let pairs: [(key: Node, value: Node)]
    private var known: [String] = []
    /// Where the schema is taken down; `nil` when something is read.
    private let book: SchemaBook?
    private var properties: [(key: String, value: OrderedJSON)] = []
    private var requiredKeys: [OrderedJSON] = []

    /// Fails, and reports it, when the node is no mapping.
    init?(_ node: Node, noun: String, diagnostics: Diagnostics) {
        guard let mapping = node.mapping else {
            diagnostics.report(node, allowed: "a mapping for \(noun)")
            return nil
        }
        self.noun = noun
        self.position = Position(node)
        self.diagnostics = diagnostics
        self.pairs = mapping.map { ($0.key, $0.value) }
        self.book = nil
    }

    /// One that reads nothing and takes down the schema.
    init(noun: String, describedIn book: SchemaBook) {
        self.noun = noun
        self.position = .start
        self.diagnostics = Diagnostics()
        self.pairs = []
        self.book = book
    }

    /// Whether the mapping has this key.
    func has(_ key: String) -> Bool { node(key) != nil }

    /// The value of a key that may be left out; `nil` when it is absent or wrong.
    ///
    /// - Parameter help: a sentence about the key, for the schema.
    func optional<Value>(_ key: String, _ form: Form<Value>, _ help: String) -> Value? {
        known.append(key)
        if let book { properties.append((key, form.schema(book).described(help))) }
        guard let node = node(key) else { return nil }
        return form.read(node, diagnostics)
    }

    /// The value of a key that must be there; its absence is reported.
    ///
    /// - Parameter help: a sentence about the key, for the schema.
    func required<Value>(_ key: String, _ form: Form<Value>, _ help: String) -> Value? {
        if book != nil { requiredKeys.append(.text(key)) }
        let value = optional(key, form, help)
        if book == nil, !has(key) {
            diagnostics.report(at: position, found: "\(noun) without \"\(key)\"", allowed: "\(key): \(form.allowed)")
        }
        return value
    }

    /// Reports something about the value of a key, or about the whole mapping when the key is absent.
    func report(_ key: String, found: String? = nil, allowed: String) {
        if let node = node(key) {
            diagnostics.report(node, found: found, allowed: allowed)
        } else {
            diagnostics.report(at: position, found: found ?? noun, allowed: allowed)
        }
    }

    /// Reports every key that nobody asked for. Call it when all known keys have been read.
    func reportUnknownKeys() {
        let allowed = known.joined(separator: ", ")
        for (key, _) in pairs where !known.contains(key.text ?? "") {
            diagnostics.report(
                key,
                found: "unknown key \(key.inWords) in \(noun)",
                allowed: allowed,
                suggestion: key.text.flatMap { Spelling.nearest(to: $0, among: known) }
            )
        }
    }

    /// What was taken down.
    var schema: OrderedJSON {
        var keywords: [(key: String, value: OrderedJSON)] = [
            ("type", "object"), ("additionalProperties", false), ("properties", .object(properties)),
        ]
        if !requiredKeys.isEmpty { keywords.append(("required", .array(requiredKeys))) }
        return .object(keywords)
    }

    private func node(_ key: String) -> Node? { pairs.first { $0.key.text == key }?.value }
}
