import Yams

/// One mapping while it is being read: hands out the values of known keys and reports the unknown ones.
final class Section {
    /// What the mapping describes, such as "a cache".
    let noun: String
    let position: Position
    let diagnostics: Diagnostics
    private let pairs: [(key: Node, value: Node)]
    private var known: [String] = []

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
    }

    /// The value of a key that may be left out; `nil` when it is absent or wrong.
    func optional<Value>(_ key: String, _ form: Form<Value>) -> Value? {
        known.append(key)
        guard let node = node(key) else { return nil }
        return form.read(node, diagnostics)
    }

    /// The value of a key that must be there; its absence is reported.
    func required<Value>(_ key: String, _ form: Form<Value>) -> Value? {
        guard node(key) == nil else { return optional(key, form) }
        known.append(key)
        diagnostics.report(at: position, found: "\(noun) without \"\(key)\"", allowed: "\(key): \(form.allowed)")
        return nil
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

    private func node(_ key: String) -> Node? { pairs.first { $0.key.text == key }?.value }
}
