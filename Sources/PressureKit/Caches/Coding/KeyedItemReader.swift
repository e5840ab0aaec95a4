/// What a value decodes by keys.
///
/// Keys are looked for from where the last one was found: in the order in which they were encoded, each is found at once.
final class KeyedItemReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: ItemDecoder
    private let first: Int
    /// A key, or the end.
    private var cursor: Int
    /// The item of that key, if it was found: it may be asked for again.
    private var found: Int?

    init(_ decoder: ItemDecoder) throws {
        self.decoder = decoder
        first = try decoder.tell([String: Any].self, nil) { () throws(ItemFailure) in
            guard decoder.place.packed == nil else { throw .mismatch(tag: ItemTag.packed) }
            return try decoder.reader.open(decoder.place.offset, ItemTag.keyed)
        }
        cursor = first
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        var place = ItemPlace(offset: first)
        while let tag = try? decoder.reader.byte(at: place.offset), tag != ItemTag.end {
            guard let name = try? NameKey(&place, decoder.reader), let end = try? decoder.reader.skip(place.offset)
            else {
                break
            }
            place.offset = end
            if let key = Key(stringValue: name.stringValue) ?? name.intValue.flatMap({ Key(intValue: $0) }) {
                keys.append(key)
            }
        }
        return keys
    }

    /// The item of a key.
    private func find(_ key: Key) throws -> ItemPlace? {
        let name = key.stringValue
        return try decoder.tell(Key.self, key) { () throws(ItemFailure) in
            let reader = decoder.reader
            if let item = found {
                if try reader.isKey(name, at: cursor).matches { return ItemPlace(offset: item) }
                cursor = try reader.skip(item)
                found = nil
            }
            let start = cursor
            var hasWrapped = false
            while true {
                if try reader.byte(at: cursor) == ItemTag.end {
                    guard !hasWrapped, start != first else { return nil }
                    hasWrapped = true
                    cursor = first
                }
                if hasWrapped, cursor >= start { return nil }
                let (matches, item) = try reader.isKey(name, at: cursor)
                if matches {
                    found = item
                    return ItemPlace(offset: item)
                }
                cursor = try reader.skip(item)
            }
        }
    }

    private func item(_ key: Key) throws -> ItemPlace {
        if let place = try find(key) { return place }
        throw DecodingError.keyNotFound(
            key,
            .init(codingPath: codingPath, debugDescription: "There is nothing for the key \(key.stringValue).")
        )
    }

    /// Reads an item that is no container, and goes on behind it.
    @inline(__always)
    private func read<Value>(
        _ key: Key,
        _ body: (ItemReader, inout ItemPlace) throws(ItemFailure) -> Value
    ) throws -> Value {
        var place = try item(key)
        let value = try decoder.tell(Value.self, key) { () throws(ItemFailure) in try body(decoder.reader, &place) }
        cursor = place.offset
        found = nil
        return value
    }

    func contains(_ key: Key) -> Bool { (try? find(key)) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        let place = try item(key)
        return try decoder.tell(Key.self, key) { () throws(ItemFailure) in try decoder.reader.isNull(place) }
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try read(key) { (reader, place) throws(ItemFailure) in try reader.bool(&place) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try read(key) { (reader, place) throws(ItemFailure) in try reader.string(&place) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try read(key) { (reader, place) throws(ItemFailure) in try reader.double(&place) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try read(key) { (reader, place) throws(ItemFailure) in try reader.float(&place) }
    }

    @inline(__always)
    private func integer<Number: FixedWidthInteger>(_ key: Key) throws -> Number {
        try read(key) { (reader, place) throws(ItemFailure) in try reader.integer(&place) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        var place = try item(key)
        let value = try decoder.read(type, &place, key: key)
        cursor = place.offset
        found = nil
        return value
    }

    private func child(_ key: Key) throws -> ItemDecoder {
        ItemDecoder(decoder.session, try item(key), parent: decoder, key: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        // Its key is none of `Key`'s.
        let other = try KeyedItemReader<NameKey>(decoder)
        return try other.child(NameKey(stringValue: SuperKey().stringValue))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }
}
