/// Where a value's bytes come from. Each can be made again at any time, which is how every access is verified.
package enum ContentSpec: Hashable, Sendable {
    /// Real files, cut into values.
    case files(FileSource)
    /// Seeded bytes of which this share compresses away.
    case synthetic(compressibility: Double)
    /// Seeded words in natural frequencies.
    case text

    /// Where real files are looked for.
    package enum FileSource: Hashable, Sendable {
        /// Files that every machine with a Swift toolchain has.
        case defaultCorpus
        /// A directory; a relative one starts at the scenario's file.
        case directory(String)
    }

    static var form: Form<ContentSpec> {
        let files = Form<String>.text("default corpus, or a directory", upTo: 1024).map { text -> FileSource in
            text == "default corpus" ? .defaultCorpus : .directory(text)
        }
        return .kind(
            "content",
            words: [.init("text", .text, "Words in natural frequencies: as compressible as prose.")],
            keyed: [
                .init(
                    "files",
                    files.map(ContentSpec.files),
                    "Real files: those of the Swift toolchain (default corpus), or of a directory."
                ),
                .init("synthetic", synthetic, "Random bytes with a stated entropy."),
            ]
        )
    }

    private static var synthetic: Form<ContentSpec> {
        .kind(
            "synthetic content",
            keyed: [
                .init(
                    "compressibility",
                    Form<Double>.share.map(ContentSpec.synthetic),
                    "The share that compresses away, such as 60%."
                ),
                .init(
                    "entropy",
                    Form<Double>.number(0...8, such: "3.2").map { .synthetic(compressibility: 1 - $0 / 8) },
                    "The same as bits in a byte: 0 compresses to nothing, 8 not at all."
                ),
            ]
        )
    }
}
