/// The order of accesses over the values that match.
package enum PatternSpec: Hashable, Sendable {
    /// In the order of the scenario, again from the first after the last.
    case sequential
    /// Each as likely as any other.
    case uniform
    /// The k-th most popular with a frequency of 1/k^alpha. Which is how popular is shuffled with the seed.
    case zipf(alpha: Double)
    /// Runs of so many neighbours, each from a place taken at random: range queries.
    case scan(length: Int)
    /// The first so many over and over: what is a little too large for a cache defeats LRU that way.
    case loop(over: Int)
    /// A few get most accesses, and every now and then others are the few.
    case hotSet(HotSet)
    /// The keys of a file, one a line; the n-th new key stands for the n-th match.
    case trace(file: String)

    /// A set that is hot, and moves.
    package struct HotSet: Hashable, Sendable {
        /// Its part of all values.
        package var size: Double
        /// Its part of all accesses.
        package var share: Double
        /// After so many accesses the next neighbours are the hot ones; never when nil.
        package var shiftEvery: Int?

        static var form: Form<HotSet> {
            .mapping("a hot set") { section in
                let size = section.required("size", .share, "Its part of all values, such as 10%.")
                let share = section.required("share", .share, "Its part of all accesses, such as 90%.")
                let shift = section.optional(
                    "shift_every",
                    .count(1...1_000_000_000),
                    "After so many accesses the next neighbours are the hot ones. Default: never."
                )
                guard let size, let share else { return nil }
                return HotSet(size: size, share: share, shiftEvery: shift)
            }
        }
    }

    static var form: Form<PatternSpec> {
        let zipf = Form<PatternSpec>.mapping("zipf") { section in
            section.required("alpha", .number(0.05...10, such: "0.9"), "The exponent: 1 is Zipf's law.")
                .map(PatternSpec.zipf)
        }
        let scan = Form<PatternSpec>.mapping("a scan") { section in
            section.required("length", .count(1...1_000_000), "How many neighbours are read in a row.")
                .map(PatternSpec.scan)
        }
        let loop = Form<PatternSpec>.mapping("a loop") { section in
            section.required("over", .count(1...1_000_000), "How many are read over and over.").map(PatternSpec.loop)
        }
        return .kind(
            "a pattern",
            words: [
                .init("sequential", .sequential, "In the order of the scenario, round and round."),
                .init("uniform", .uniform, "Each as likely as any other."),
                .init("zipf", .zipf(alpha: 0.99), "A few are popular, most are not; alpha 0.99."),
            ],
            keyed: [
                .init("zipf", zipf, "The k-th most popular with a frequency of 1/k^alpha."),
                .init("scan", scan, "Runs of neighbours, each from a place taken at random."),
                .init("loop", loop, "The first so many, over and over."),
                .init("hot_set", HotSet.form.map(PatternSpec.hotSet), "A few get most accesses, and the few change."),
                .init(
                    "trace",
                    Form<String>.text("a file of keys", upTo: 1024).map(PatternSpec.trace),
                    "A text file with one key a line, packed by gzip or not; a relative path starts at the scenario's file."
                ),
            ]
        )
    }
}
