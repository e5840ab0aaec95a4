/// A pattern over paths such as `gallery/originals-*`, as shells write them.
///
/// `*` stands for any characters within one component, `?` for one of them, `**` as a whole component for any number
/// of components. Matching is by component and case counts.
struct PathGlob: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as it was written.
    let description: String
    private let components: [[Character]]

    /// Matches every path.
    static let all = PathGlob("**")

    init(_ text: String) {
        description = text
        components = text.split(separator: "/").map(Array.init)
    }

    /// Whether the pattern describes the whole of `path`.
    func matches(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map(Array.init)
        return Self.match(components[...], parts[...])
    }

    private static func match(_ pattern: ArraySlice<[Character]>, _ path: ArraySlice<[Character]>) -> Bool {
        guard let head = pattern.first else { return path.isEmpty }
        if head == ["*", "*"] {
            return path.indices.contains { match(pattern.dropFirst(), path[$0...]) }
                || match(pattern.dropFirst(), path[path.endIndex...])
        }
        guard let part = path.first, match(component: head[...], part[...]) else { return false }
        return match(pattern.dropFirst(), path.dropFirst())
    }

    private static func match(component pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let head = pattern.first else { return text.isEmpty }
        if head == "*" {
            return (text.startIndex...text.endIndex).contains { match(component: pattern.dropFirst(), text[$0...]) }
        }
        guard let character = text.first, head == "?" || head == character else { return false }
        return match(component: pattern.dropFirst(), text.dropFirst())
    }
}

extension Form where Value == PathGlob {
    /// A pattern over the paths of `noun`.
    static func glob(_ noun: String) -> Form {
        scalar("a path of \(noun) such as \"gallery/originals-*\" (* within a name, ** across names)") { text in
            text.hasPrefix("/") || text.hasSuffix("/") ? nil : PathGlob(text)
        }
    }
}
