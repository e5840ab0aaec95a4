package import PressureSystem

/// A cache with one value, or with many by key; or `count` caches alike.
package struct CacheSpec: Sendable {
    package var name: Marked<String>
    /// With more than one, they are named `name-1`, `name-2`, … with as many digits as the last one needs.
    package var count: Int
    /// How many values it has by key, and what it keeps to; a cache of one value when nil.
    package var keyed: KeyedSpec?
    /// Each value's size; within a range, every power of two is as likely as the next.
    package var size: ClosedRange<ByteCount>
    /// The trace that has a size for each value; `nil` for one of the range.
    package var sizeTrace: String?
    /// What it has; empty without one.
    package var sizes: [ByteCount] = []
    package var content: ContentSpec
    /// `nil`: the value is set at the start and must never be lost.
    package var loader: LoaderSpec?
    /// What holds the bytes.
    package var storage: Storage { chosenStorage ?? .usual(size.upperBound) }
    private var chosenStorage: Storage?

    package enum Storage: String, Sendable, CaseIterable {
        /// `PageBuffer`: pages of their own, back with the system at once.
        case pages
        /// `[UInt8]`: the C library's heap.
        case array

        /// A page that is hardly filled would be several times the value.
        static func usual(_ largest: ByteCount) -> Storage { largest < .bytes(pageBytes) ? .array : .pages }

        /// What the system gives out, on all machines this runs on.
        static let pageBytes = 4096

        /// What a value of so many bytes takes.
        func heldBytes(_ size: Double) -> Double {
            switch self {
            case .pages: (size / Double(Self.pageBytes)).rounded(.up) * Double(Self.pageBytes)
            case .array: size
            }
        }

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
            let size = section.required(
                "size",
                Size.form,
                "The size of each value, or a range such as 8KiB to 1MiB, or that of each by a trace."
            )
            let content = section.required("content", ContentSpec.form, "What the values consist of.")
            let loader = section.required(
                "loader",
                LoaderSpec.form,
                "How a value is made again; none for one that is set at the start and must never be lost."
            )
            let storage = section.optional(
                "storage",
                Storage.form,
                "What holds the bytes. Default: pages, and array where no value fills one (4 KiB)."
            )
            guard let name, let size, let content, let loader else { return nil }
            if let limit = keyed?.limit, limit < size.range.upperBound {
                section.report("keyed", found: limit.tooSmall(for: size.range), allowed: Self.roomForOne)
                return nil
            }
            return CacheSpec(
                name: name,
                count: count ?? 1,
                keyed: keyed,
                size: size.range,
                sizeTrace: size.trace,
                content: content,
                loader: loader.spec,
                chosenStorage: storage
            )
        }
    }

    /// What a limit has to be.
    static let roomForOne = "a limit that holds at least one value"

    /// What may stand for a size.
    private enum Size: Sendable {
        case within(ClosedRange<ByteCount>)
        case by(trace: String)

        /// Until the trace is read, any.
        var range: ClosedRange<ByteCount> {
            if case .within(let range) = self { range } else { .bytes(1) ... .bytes(1) }
        }

        var trace: String? {
            if case .by(let trace) = self { trace } else { nil }
        }

        static var form: Form<Size> {
            .either(
                scalar: Form<ClosedRange<ByteCount>>.sizes.map(Size.within),
                mapping: Form<String>.column.map(Size.by)
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

extension ByteCount {
    /// What is wrong with a limit that no value fits.
    func tooSmall(for sizes: ClosedRange<ByteCount>) -> String {
        "a limit of \(self) for values of up to \(sizes.upperBound)"
    }
}
