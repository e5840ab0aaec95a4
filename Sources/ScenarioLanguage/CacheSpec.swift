package import PressureKit

/// A cache with one value, or with many by key; or `count` caches alike.
package struct CacheSpec: Sendable {
    package var name: Marked<String>
    /// With more than one, they are named `name-1`, `name-2`, … with as many digits as the last one needs.
    package var count: Int
    /// How many values it has by key, and what it keeps to; a cache of one value when nil.
    package var keyed: KeyedSpec?
    /// Each value's size; within a range, every power of two is as likely as the next.
    package var size: ClosedRange<ByteCount>
    package var content: ContentSpec
    /// `nil`: the value is set at the start and must never be lost.
    package var loader: LoaderSpec?
    package var storage: Storage

    /// What holds the bytes.
    package enum Storage: String, Sendable, CaseIterable {
        /// `PageBuffer`: pages of their own, back with the system at once.
        case pages
        /// `[UInt8]`: the C library's heap.
        case array

        static var form: Form<Storage> {
            .word([
                .init("pages", .pages, "PageBuffer: pages of their own, which go back to the system at once."),
                .init("array", .array, "[UInt8], on the heap of the C library."),
            ])
        }
    }

    static var form: Form<CacheSpec> {
        .mapping("a cache") { section in
            let name = section.required("name", Form<String>.name.marked, "What it is called in paths; unique in it.")
            let count = section.optional("count", .count(1...1_000_000), "So many alike, named NAME-1 and so on.")
            let keyed = section.optional("keyed", KeyedSpec.form, "Many values by key, in one KeyedCache.")
            let size = section.required("size", .sizes, "The size of each value, or a range such as 8KiB to 1MiB.")
            let content = section.required("content", ContentSpec.form, "What the values consist of.")
            let loader = section.required(
                "loader",
                LoaderSpec.form,
                "How a value is made again; none for one that is set at the start and must never be lost."
            )
            let storage = section.optional("storage", Storage.form, "What holds the bytes. Default: pages.")
            guard let name, let size, let content, let loader else { return nil }
            if let limit = keyed?.limit, limit < size.upperBound {
                section.report(
                    "keyed",
                    found: "a limit of \(limit) for values of up to \(size.upperBound)",
                    allowed: "a limit that holds at least one value"
                )
                return nil
            }
            return CacheSpec(
                name: name,
                count: count ?? 1,
                keyed: keyed,
                size: size,
                content: content,
                loader: loader.spec,
                storage: storage ?? .pages
            )
        }
    }

    /// The names of the caches this stands for.
    package var names: [String] { Numbering.names(name.value, count: count) }
}

/// Many values in one cache.
package struct KeyedSpec: Hashable, Sendable {
    /// How many keys there are: 1, 2, …
    package var keys: Int
    /// The bytes in memory that it keeps to without any pressure.
    package var limit: ByteCount?
    /// The number of values in memory that it keeps to.
    package var countLimit: Int?

    static var form: Form<KeyedSpec> {
        .mapping("a keyed cache") { section in
            let keys = section.required("keys", .count(1...1_000_000), "How many keys there are: [1], [2] and so on.")
            let limit = section.optional("limit", .size, "The bytes it keeps in memory at most, without any pressure.")
            let values = section.optional("count_limit", .count(1...1_000_000), "How many values it keeps at most.")
            return keys.map { KeyedSpec(keys: $0, limit: limit, countLimit: values) }
        }
    }
}
