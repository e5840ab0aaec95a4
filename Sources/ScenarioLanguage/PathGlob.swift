/// A pattern over paths such as `gallery/originals-*`, as shells write them.
///
/// `*` stands for any characters within one component, `?` for one of them, `**` as a whole component for any number
/// of components. Matching is by component and case counts.
package struct PathGlob: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as it was written.
    package let description: String
    private let components: [[Character]]

    /// Matches every path.
    package static let all = PathGlob("**")

    init(_ text: String) {
        description = text
        components = text.split(separator: "/").map(Array.init)
    }

    /// Whether the pattern is about keys of keyed caches, such as `server/tiles[1*]`.
    package var hasKey: Bool { description.contains("[") }

    /// Whether the pattern describes the whole of `path`.
    package func matches(_ path: String) -> Bool {
        let parts = path.split(separator: "/").map(Array.init)
        return Self.match(components, parts, isStar: { $0 == ["*", "*"] }, fits: Self.match(component:_:))
    }

    /// Both at the level of components and of characters: after a mismatch only the last star is tried again, so that no
    /// pattern takes longer than its length times that of the path.
    private static func match<Part>(
        _ pattern: [Part],
        _ text: [Part],
        isStar: (Part) -> Bool,
        fits: (Part, Part) -> Bool
    ) -> Bool {
        var (p, t) = (0, 0)
        var retry: (pattern: Int, text: Int)?
        while t < text.count {
            if p < pattern.count, isStar(pattern[p]) {
                retry = (p + 1, t)
                p += 1
            } else if p < pattern.count, fits(pattern[p], text[t]) {
                (p, t) = (p + 1, t + 1)
            } else if let last = retry {
                retry = (last.pattern, last.text + 1)
                (p, t) = (last.pattern, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy(isStar)
    }

    private static func match(component pattern: [Character], _ text: [Character]) -> Bool {
        match(pattern, text, isStar: { $0 == "*" }, fits: { $0 == "?" || $0 == $1 })
    }
}

extension Form where Value == PathGlob {
    /// A pattern over the paths of `noun`.
    static func glob(_ noun: String) -> Form {
        let allowed = "a path of \(noun) such as \"gallery/originals-*\" (* within a name, ** across names)"
        return scalar(allowed, schema: ["type": "string", "maxLength": 1024, "pattern": "^[^/](.*[^/])?$"]) { text in
            text.hasPrefix("/") || text.hasSuffix("/") || text.count > 1024 ? nil : PathGlob(text)
        }
    }
}
