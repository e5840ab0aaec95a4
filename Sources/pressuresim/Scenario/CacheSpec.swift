import PressureKit

/// A cache with one value, or `count` alike.
struct CacheSpec: Sendable {
    var name: Marked<String>
    /// With more than one, they are named `name-1`, `name-2`, … with as many digits as the last one needs.
    var count: Int
    /// Each value's size; within a range, every power of two is as likely as the next.
    var size: ClosedRange<ByteCount>
    var content: ContentSpec
    /// `nil`: the value is set at the start and must never be lost.
    var loader: LoaderSpec?
    var storage: Storage

    /// What holds the bytes.
    enum Storage: String, Sendable, CaseIterable {
        /// `PageBuffer`: pages of their own, back with the system at once.
        case pages
        /// `[UInt8]`: the C library's heap.
        case array
    }

    static var form: Form<CacheSpec> {
        .mapping("a cache") { section in
            let name = section.required("name", Form<String>.name.marked)
            let count = section.optional("count", .count(1...1_000_000)) ?? 1
            let size = section.required("size", .sizes)
            let content = section.required("content", ContentSpec.form)
            let loader = section.required("loader", LoaderSpec.form)
            let storage = section.optional("storage", .word(Storage.allCases.map { ($0.rawValue, $0) }))
            guard let name, let size, let content, let loader else { return nil }
            return CacheSpec(
                name: name,
                count: count,
                size: size,
                content: content,
                loader: loader.spec,
                storage: storage ?? .pages
            )
        }
    }

    /// The names of the caches this stands for.
    var names: [String] { Numbering.names(name.value, count: count) }
}

/// How a value that was dropped is made again.
struct LoaderSpec: Hashable, Sendable {
    /// How long a load takes on top of making the bytes: the loader sleeps, as if it waited for a disk or a network.
    var cost: Duration
    /// How often a load fails, 0 … 1.
    var failure: Double

    /// `loader: none`, or a loader. Spelled out always: whether a value can be made again decides its fate.
    enum Choice: Sendable {
        case none
        case some(LoaderSpec)

        var spec: LoaderSpec? {
            if case .some(let spec) = self { spec } else { nil }
        }
    }

    static var form: Form<Choice> {
        .either(
            scalar: .word([("none", .none)]),
            mapping: .mapping("a loader") { section in
                .some(
                    LoaderSpec(
                        cost: section.optional("cost", .duration) ?? .zero,
                        failure: section.optional("failure", .share) ?? 0
                    )
                )
            }
        )
    }
}

/// Where a value's bytes come from. Each can be made again at any time, which is how every access is verified.
enum ContentSpec: Hashable, Sendable {
    /// Real files, cut into values.
    case files(FileSource)
    /// Seeded bytes of which this share compresses away.
    case synthetic(compressibility: Double)
    /// Seeded words in natural frequencies.
    case text

    /// Where real files are looked for.
    enum FileSource: Hashable, Sendable {
        /// Files that every machine with a Swift toolchain has.
        case defaultCorpus
        /// A directory; a relative one starts at the scenario's file.
        case directory(String)
    }

    static var form: Form<ContentSpec> {
        let files = Form<FileSource>.scalar("default corpus, or a directory") { text in
            text == "default corpus" ? .defaultCorpus : .directory(text)
        }
        let synthetic = Form<ContentSpec>.mapping("synthetic content") { section in
            section.required("compressibility", .share).map(ContentSpec.synthetic)
        }
        return .kind(
            "content",
            words: [("text", .text)],
            keyed: [
                ("files", files.map(ContentSpec.files)), ("synthetic", synthetic),
            ]
        )
    }
}
