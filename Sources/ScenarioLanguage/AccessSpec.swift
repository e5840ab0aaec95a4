import PressureSystem

/// A series of accesses: what, how often, in which order.
package struct AccessSpec: Sendable {
    package var of: Marked<PathGlob>
    package var pattern: PatternSpec
    /// When nil, one pass: each match once, or each line of a trace.
    package var count: Int?
    /// How many threads share the accesses.
    package var threads: Int
    /// How long each thread waits after an access.
    package var every: Duration = .zero

    static func form(_ noun: String, of glob: Form<PathGlob>, threads: Bool) -> Form<AccessSpec> {
        .mapping(noun) { section in
            let of = section.required("of", glob.marked, "Which ones: a path, * within a name, ** across names.")
            let pattern = section.optional("pattern", PatternSpec.form, "In which order. Default: sequential.")
            let count = section.optional("count", .count(1...1_000_000_000), "How often. Default: one pass.")
            let every = section.optional("every", .duration, "How long to wait after each. Default: not at all.")
            let threads =
                threads
                ? section.optional("threads", .count(1...64), "How many threads share the accesses. Default: 1.") : nil
            guard let of else { return nil }
            return AccessSpec(
                of: of,
                pattern: pattern ?? .sequential,
                count: count,
                threads: threads ?? 1,
                every: every ?? .zero
            )
        }
    }
}
