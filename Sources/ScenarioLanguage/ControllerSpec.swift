import PressureSystem

/// A controller, or `count` alike, with caches, children, and what it may present.
package struct ControllerSpec: Sendable {
    package var name: Marked<String>
    /// With more than one, they are named `name-1`, `name-2`, … with as many digits as the last one needs.
    package var count: Int
    var visibility: Visibility
    package var caches: [CacheSpec]
    package var children: [ControllerSpec]
    /// Controllers that cover this one from `present` to `dismiss`; not in the tree before and after.
    package var presents: [ControllerSpec]

    /// Which of the controllers have appeared when the timeline begins.
    enum Visibility: String, Sendable {
        case all = "true"
        case none = "false"
        /// Only the first of several.
        case first

        static var form: Form<Visibility> {
            .word([
                .init("true", .all, "It has appeared when the timeline begins."),
                .init("false", .none, "It is hidden until a step shows it."),
                .init("first", .first, "Of several alike, only the first has appeared."),
            ])
        }
    }

    static var form: Form<ControllerSpec> {
        .mapping("a controller") { section in
            let name = section.required("name", Form<String>.name.marked, "What it is called in paths.")
            let count = section.optional("count", .count(1...100_000), "So many alike, named NAME-1 and so on.")
            let visible = section.optional("visible", Visibility.form, "Whether it is on the screen at the start.")
            let caches = section.optional("caches", .list(of: CacheSpec.form, "caches", 0...1000), "What it holds.")
            let children = section.optional(
                "children",
                .list(of: ControllerSpec.form, "controllers", 0...1000),
                "The controllers below it."
            )
            let presents = section.optional(
                "presents",
                .list(of: ControllerSpec.form, "controllers", 0...100),
                "Controllers that cover it from a present step to a dismiss step; in the tree only then."
            )
            if let presents, !presents.isEmpty, (count ?? 1) > 1 || presents.contains(where: { $0.count > 1 }) {
                section.report(
                    "presents",
                    found: "several alike that present, or are presented",
                    allowed: "presents with a count of 1 on both sides"
                )
                return nil
            }
            guard let name else { return nil }
            return ControllerSpec(
                name: name,
                count: count ?? 1,
                visibility: visible ?? Visibility.none,
                caches: caches ?? [],
                children: children ?? [],
                presents: presents ?? []
            )
        }
    }

    /// The names of the controllers this stands for.
    package var names: [String] { Numbering.names(name.value, count: count) }

    /// The names of those that are visible at the start.
    package func isVisible(index: Int) -> Bool {
        switch visibility {
        case .all: true
        case .none: false
        case .first: index == 0
        }
    }
}

/// How one name becomes many.
package enum Numbering {
    /// `name` alone, or `name-001` … `name-250`: zero-padded, so that names sort as they count.
    package static func names(_ name: String, count: Int) -> [String] {
        guard count > 1 else { return [name] }
        let width = String(count).count
        return (1...count).map { number in
            let digits = String(number)
            return name + "-" + String(repeating: "0", count: width - digits.count) + digits
        }
    }

    /// A path with the numbers of its components replaced by `*`: what the many have in common.
    package static func kind(of path: String) -> String {
        path.split(separator: "/").map { component -> String in
            guard let dash = component.lastIndex(of: "-") else { return String(component) }
            let number = component[component.index(after: dash)...]
            guard !number.isEmpty, number.allSatisfy(\.isNumber) else { return String(component) }
            return component[...dash] + "*"
        }.joined(separator: "/")
    }
}
