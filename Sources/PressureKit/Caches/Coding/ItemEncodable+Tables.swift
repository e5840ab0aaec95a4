/// Hash tables have their elements in another order in every process. They are written in order, so that equal ones become
/// equal bytes.
extension Set: ItemEncodable where Element: Encodable {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws {
        // Each is what it is taken for.
        if Element.self == String.self {
            return try unsafe unsafeBitCast(self, to: Set<String>.self).sorted().writeItem(to: writer, by: encoder)
        }
        if Element.self == Int.self {
            return try unsafe unsafeBitCast(self, to: Set<Int>.self).sorted().writeItem(to: writer, by: encoder)
        }
        let place = try writer.beginContainer(ItemTag.array)
        let sorted = try EncodedKeys(self, by: encoder)
        try unsafe sorted.forEach { _, bytes in try unsafe writer.write(bytes) }
        try writer.endContainer(place)
    }
}

extension Dictionary: ItemEncodable where Key: Encodable, Value: Encodable {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws {
        // Each is what it is taken for.
        if Key.self == String.self {
            return try unsafe unsafeBitCast(self, to: [String: Value].self).writeSorted(to: writer, by: encoder)
        }
        if Key.self == Int.self {
            return try unsafe unsafeBitCast(self, to: [Int: Value].self).writeSorted(to: writer, by: encoder)
        }
        if Key.self is any CodingKeyRepresentable.Type {
            return try writeByCodingKeys(to: writer, by: encoder)
        }
        // As the standard library has it: keys and values by turns.
        let place = try writer.beginContainer(ItemTag.array)
        let sorted = try EncodedKeys(keys, by: encoder)
        try unsafe sorted.forEach { index, bytes in
            try unsafe writer.write(bytes)
            try encoder.write(values[index], to: writer, key: nil)
        }
        try writer.endContainer(place)
    }

    private func writeSorted(to writer: SpillWriter, by encoder: ItemEncoder) throws
    where Key: Comparable & ItemEncodable {
        let place = try writer.beginContainer(ItemTag.keyed)
        for key in keys.sorted() {
            guard let value = self[key] else { continue }
            try key.writeItem(to: writer, by: encoder)
            try encoder.write(value, to: writer, key: nil)
        }
        try writer.endContainer(place)
    }

    private func writeByCodingKeys(to writer: SpillWriter, by encoder: ItemEncoder) throws {
        let named = keys.map { key in
            (name: (key as? any CodingKeyRepresentable)?.codingKey.stringValue ?? "", key: key)
        }
        let place = try writer.beginContainer(ItemTag.keyed)
        var last: String?
        for (name, key) in named.sorted(by: { $0.name < $1.name }) {
            guard let value = self[key] else { continue }
            guard name != last else { throw encoder.twice(name) }
            last = name
            try writer.writeItem(name)
            try encoder.write(value, to: writer, key: nil)
        }
        try writer.endContainer(place)
    }
}

/// The elements of a collection, encoded and in the order of their bytes.
private struct EncodedKeys<Elements: Collection> where Elements.Element: Encodable {
    private var places: [(index: Elements.Index, range: Range<Int>)] = []
    private let bytes = SpillWriter()

    init(_ elements: Elements, by encoder: ItemEncoder) throws {
        places.reserveCapacity(elements.count)
        for index in elements.indices {
            let start = bytes.byteCount
            try encoder.write(elements[index], to: bytes, key: nil)
            places.append((index, start..<bytes.byteCount))
        }
        // The writer keeps them, and writes no more.
        unsafe bytes.withBytes { bytes in
            places.sort { unsafe bytes[$0.range].lexicographicallyPrecedes(bytes[$1.range]) }
        }
    }

    func forEach(_ body: (Elements.Index, UnsafeRawBufferPointer) throws -> Void) rethrows {
        try unsafe bytes.withBytes { bytes in
            for (index, range) in places { try unsafe body(index, UnsafeRawBufferPointer(rebasing: bytes[range])) }
        }
    }
}
