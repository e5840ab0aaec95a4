import PressureKit

/// A series of accesses: what, how often, in which order.
struct AccessSpec: Sendable {
    var of: Marked<PathGlob>
    var pattern: PatternSpec
    /// As many as there are matches when nil: one pass.
    var count: Int?
    /// How many threads share the accesses.
    var threads: Int

    static func form(_ noun: String, of glob: Form<PathGlob>, threads: Bool) -> Form<AccessSpec> {
        .mapping(noun) { section in
            let of = section.required("of", glob.marked)
            let count = section.optional("count", .count(1...1_000_000_000))
            let pattern = section.optional("pattern", PatternSpec.form)
            let threads = threads ? section.optional("threads", .count(1...64)) : nil
            guard let of else { return nil }
            return AccessSpec(of: of, pattern: pattern ?? .sequential, count: count, threads: threads ?? 1)
        }
    }
}

/// The order of accesses over the caches that match.
enum PatternSpec: Hashable, Sendable {
    /// In the order of their paths' numbers, again from the first after the last.
    case sequential
    /// Each as likely as any other.
    case uniform
    /// The k-th most popular with a frequency of 1/k^alpha. Which is how popular is shuffled with the seed.
    case zipf(alpha: Double)
    /// The keys of a file, one a line; the n-th new key stands for the n-th match.
    case trace(file: String)

    static var form: Form<PatternSpec> {
        let zipf = Form<PatternSpec>.mapping("zipf") { section in
            section.required("alpha", .number(0.05...10, such: "0.9")).map(PatternSpec.zipf)
        }
        return .kind(
            "a pattern",
            words: [("sequential", .sequential), ("uniform", .uniform), ("zipf", .zipf(alpha: 0.99))],
            keyed: [("zipf", zipf), ("trace", Form<String>.text("a file of keys").map(PatternSpec.trace))]
        )
    }
}
