import SpillStore

/// What a saved state says: the tree of controllers, what each encoded, and where the values of its caches lie in the
/// file. Pure.
struct StateManifest: Hashable, Sendable {
    /// The value of one cache.
    struct Value: Hashable, Sendable {
        /// The key in a cache with many; `nil` in one with one.
        var key: String?
        var plainByteCount: UInt64
        var footprint: UInt64
        /// Whether the loader makes the same.
        var isReloadable: Bool
        var variant: UInt8
        /// One for each chunk.
        var records: [SpillRecord]

        /// The bytes of its chunks in the file.
        var storedByteCount: Int { records.reduce(0) { $0 + Int($1.storedLength) } }
    }

    /// A cache.
    struct Cache: Hashable, Sendable {
        var name: String
        /// What its values are, as Swift spells it: bytes of another type are not read as this one.
        var type: String
        /// How the elements lie of values that are arrays: a type may have changed and keep its name.
        var layout: ElementLayout?
        var values: [Value]
    }

    /// A controller, with those below it.
    struct Node: Hashable, Sendable {
        var identifier: String
        /// Whether its presenter is the node above.
        var isPresented = false
        var coder = StateCoder()
        var caches: [Cache] = []
        var children: [Node] = []
    }

    /// The app's version.
    var version: String
    /// The root.
    var root: Node

    /// As deep a tree as is saved and read: deeper ones are damage.
    static let mostDepth = 1000
}

// MARK: - Writing

extension StateManifest {
    /// The manifest as bytes.
    var encoded: [UInt8] {
        var writer = StateWriter()
        writer.write(version)
        Self.write(root, &writer)
        return writer.bytes
    }

    private static func write(_ node: Node, _ writer: inout StateWriter) {
        writer.write(node.identifier)
        writer.write(UInt8(node.isPresented ? 1 : 0))
        writer.write(UInt32(node.coder.items.count))
        // In order, so that the same state is the same bytes.
        for (key, item) in node.coder.items.sorted(by: { $0.key < $1.key }) {
            writer.write(key)
            switch item {
            case .bool(let value):
                writer.write(UInt8(0))
                writer.write(UInt8(value ? 1 : 0))
            case .int(let value):
                writer.write(UInt8(1))
                writer.write(value)
            case .double(let bits):
                writer.write(UInt8(2))
                writer.write(bits)
            case .string(let text):
                writer.write(UInt8(3))
                writer.write(text)
            case .bytes(let bytes):
                writer.write(UInt8(4))
                writer.write(bytes)
            }
        }
        writer.write(UInt32(node.caches.count))
        for cache in node.caches { write(cache, &writer) }
        writer.write(UInt32(node.children.count))
        for child in node.children { write(child, &writer) }
    }

    private static func write(_ cache: Cache, _ writer: inout StateWriter) {
        writer.write(cache.name)
        writer.write(cache.type)
        // No array has elements that take nothing.
        let layout = cache.layout ?? ElementLayout(size: 0, stride: 0, alignment: 0)
        writer.write(layout.size)
        writer.write(layout.stride)
        writer.write(layout.alignment)
        writer.write(UInt32(cache.values.count))
        for value in cache.values {
            writer.write(UInt8((value.isReloadable ? 1 : 0) | (value.key == nil ? 0 : 2)))
            if let key = value.key { writer.write(key) }
            writer.write(value.variant)
            writer.write(value.plainByteCount)
            writer.write(value.footprint)
            writer.write(UInt32(value.records.count))
            for record in value.records {
                writer.write(record.generation)
                writer.write(record.unit)
                writer.write(record.storedLength)
                writer.write(record.plainLength)
                writer.write(record.checksum)
                writer.write(record.codec.rawValue)
            }
        }
    }
}

// MARK: - Reading

extension StateManifest {
    /// Reads a manifest whose checksum was right; what does not fit is damage all the same.
    ///
    /// - Parameters:
    ///   - bytes: the whole of it.
    ///   - units: how many units of frames the file has; records beyond are damage.
    init(_ bytes: ArraySlice<UInt8>, units: UInt32) throws(StateRefusal) {
        var reader = StateReader(bytes)
        version = try reader.readString()
        root = try Self.node(&reader, units: units, depth: 0)
        guard reader.left == 0 else { throw .damaged("something follows its end") }
    }

    private static func node(_ reader: inout StateReader, units: UInt32, depth: Int) throws(StateRefusal) -> Node {
        guard depth < mostDepth else { throw .damaged("the tree is too deep") }
        var node = Node(identifier: try reader.readString())
        node.isPresented = try reader.read(UInt8.self) != 0
        for _ in 0..<(try reader.readCount(width: 6)) {
            let key = try reader.readString()
            node.coder.items[key] = try item(&reader)
        }
        for _ in 0..<(try reader.readCount(width: 24)) { node.caches.append(try cache(&reader, units: units)) }
        for _ in 0..<(try reader.readCount(width: 17)) {
            node.children.append(try Self.node(&reader, units: units, depth: depth + 1))
        }
        return node
    }

    private static func item(_ reader: inout StateReader) throws(StateRefusal) -> StateCoder.Item {
        switch try reader.read(UInt8.self) {
        case 0: .bool(try reader.read(UInt8.self) != 0)
        case 1: .int(try reader.read(Int64.self))
        case 2: .double(try reader.read(UInt64.self))
        case 3: .string(try reader.readString())
        case 4: .bytes(try reader.readBytes())
        default: throw .damaged("an encoded value is of no known kind")
        }
    }

    private static func cache(_ reader: inout StateReader, units: UInt32) throws(StateRefusal) -> Cache {
        var cache = Cache(name: try reader.readString(), type: try reader.readString(), values: [])
        let layout = ElementLayout(
            size: try reader.read(UInt32.self),
            stride: try reader.read(UInt32.self),
            alignment: try reader.read(UInt32.self)
        )
        if layout.stride > 0 { cache.layout = layout }
        for _ in 0..<(try reader.readCount(width: 22)) {
            let value = try value(&reader, units: units)
            guard cache.layout?.divides(value.plainByteCount) ?? true else {
                throw .damaged("a value is not whole elements")
            }
            cache.values.append(value)
        }
        return cache
    }

    private static func value(_ reader: inout StateReader, units: UInt32) throws(StateRefusal) -> Value {
        let flags = try reader.read(UInt8.self)
        let key: String? = flags & 2 == 0 ? nil : try reader.readString()
        var value = Value(
            key: key,
            plainByteCount: 0,
            footprint: 0,
            isReloadable: flags & 1 != 0,
            variant: try reader.read(UInt8.self),
            records: []
        )
        value.plainByteCount = try reader.read(UInt64.self)
        value.footprint = try reader.read(UInt64.self)
        for _ in 0..<(try reader.readCount(width: 25)) { value.records.append(try record(&reader)) }
        guard value.hasRightChunks(units: units) else { throw .damaged("a value's chunks do not fit") }
        return value
    }

    private static func record(_ reader: inout StateReader) throws(StateRefusal) -> SpillRecord {
        let generation = try reader.read(UInt64.self)
        let unit = try reader.read(UInt32.self)
        let storedLength = try reader.read(UInt32.self)
        let plainLength = try reader.read(UInt32.self)
        let checksum = try reader.read(UInt32.self)
        guard storedLength <= SegmentFile.chunkSize, plainLength <= SegmentFile.chunkSize else {
            throw .damaged("a chunk is longer than chunks are")
        }
        guard let codec = Codec(rawValue: try reader.read(UInt8.self)) else {
            throw .damaged("a chunk has no known codec")
        }
        return SpillRecord(
            generation: generation,
            unit: unit,
            storedLength: storedLength,
            plainLength: plainLength,
            codec: codec,
            checksum: checksum
        )
    }
}

extension StateManifest.Value {
    /// The bytes of a process's address space on x86-64 and arm64: no value takes more memory. Sums of what values take
    /// must not overflow.
    private static let mostFootprint: UInt64 = 1 << 48

    /// Whether the chunks are those of so many bytes, each within the file.
    fileprivate func hasRightChunks(units: UInt32) -> Bool {
        guard plainByteCount <= UInt64(UInt32.max) << 12, footprint <= Self.mostFootprint else { return false }
        let count = Int(plainByteCount)
        guard records.count == SegmentFile.chunkCount(forByteCount: count) else { return false }
        return records.enumerated().allSatisfy { index, record in
            record.plainLength == SegmentFile.chunkRange(index, ofByteCount: count).count
                && record.storedLength > 0
                && UInt64(record.unit) + UInt64(record.extent.count) <= UInt64(units)
        }
    }
}
