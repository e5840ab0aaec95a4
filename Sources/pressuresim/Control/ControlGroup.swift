import ReportPages
import ScenarioLanguage

/// Values of one cache, or of caches whose names differ in a number only.
struct ControlGroup {
    /// What they have in common: `tiles[…]`, `page-*`.
    let path: String
    private(set) var values: [ControlReply.Status.Cache]

    /// Such as `resident`, or `120 resident, 3 spilled`, the most first.
    var residency: String {
        guard values.count > 1 else { return values.first?.residency ?? "" }
        let counts = Dictionary(values.map { ($0.residency, 1) }, uniquingKeysWith: +)
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\(Quantities.count($0.value)) \($0.key)" }.joined(separator: ", ")
    }

    /// What all of them have of something.
    func sum(_ part: (ControlReply.Status.Cache) -> Int) -> Int { values.reduce(0) { $0 + part($1) } }

    /// Values as one, under the path of the first if it is alone.
    init(_ values: [ControlReply.Status.Cache]) {
        path = values.count == 1 ? values[0].path : Self.kind(of: values[0].path)
        self.values = values
    }

    /// The groups of some values, in the order of the first of each.
    static func all(_ values: [ControlReply.Status.Cache]) -> [ControlGroup] {
        var members: [String: [ControlReply.Status.Cache]] = [:]
        var order: [String] = []
        for value in values {
            let kind = kind(of: value.path)
            if members[kind] == nil { order.append(kind) }
            members[kind, default: []].append(value)
        }
        return order.compactMap { members[$0] }.map(ControlGroup.init)
    }

    /// A path without the key, and with numbers as `*`.
    private static func kind(of path: String) -> String {
        guard path.last == "]", let key = path.firstIndex(of: "[") else { return Numbering.kind(of: path) }
        return "\(path[..<key])[…]"
    }
}
