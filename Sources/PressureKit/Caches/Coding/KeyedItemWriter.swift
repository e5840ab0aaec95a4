/// What a value encodes by keys.
struct KeyedItemWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ItemEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws { try encoder.next(key).writeNull() }
    func encode(_ value: Bool, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: String, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Double, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Float, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Int, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Int8, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Int16, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Int32, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Int64, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: UInt, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: UInt8, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: UInt16, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: UInt32, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: UInt64, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: Int128, forKey key: Key) throws { try encoder.next(key).writeItem(value) }
    func encode(_ value: UInt128, forKey key: Key) throws { try encoder.next(key).writeItem(value) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.write(value, to: encoder.next(key), key: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.child(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.child(SuperKey()) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.child(key) }
}

/// The key of what a superclass encodes, unless it is given one.
struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }
    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

/// The place of an item in an array.
struct IndexKey: CodingKey {
    let index: Int
    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }
    init(_ index: Int) { self.index = index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}
