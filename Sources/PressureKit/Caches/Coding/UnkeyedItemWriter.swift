/// What the two containers write in the same way: an item of a type of the standard library.
protocol ItemWriter {
    var encoder: ItemEncoder { get }
}

extension ItemWriter {
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws { try encoder.next().writeNull() }
    func encode(_ value: Bool) throws { try encoder.next().writeItem(value) }
    func encode(_ value: String) throws { try encoder.next().writeItem(value) }
    func encode(_ value: Double) throws { try encoder.next().writeItem(value) }
    func encode(_ value: Float) throws { try encoder.next().writeItem(value) }
    func encode(_ value: Int) throws { try encoder.next().writeItem(value) }
    func encode(_ value: Int8) throws { try encoder.next().writeItem(value) }
    func encode(_ value: Int16) throws { try encoder.next().writeItem(value) }
    func encode(_ value: Int32) throws { try encoder.next().writeItem(value) }
    func encode(_ value: Int64) throws { try encoder.next().writeItem(value) }
    func encode(_ value: UInt) throws { try encoder.next().writeItem(value) }
    func encode(_ value: UInt8) throws { try encoder.next().writeItem(value) }
    func encode(_ value: UInt16) throws { try encoder.next().writeItem(value) }
    func encode(_ value: UInt32) throws { try encoder.next().writeItem(value) }
    func encode(_ value: UInt64) throws { try encoder.next().writeItem(value) }
}

/// What a value encodes in order.
struct UnkeyedItemWriter: UnkeyedEncodingContainer, ItemWriter {
    let encoder: ItemEncoder

    var count: Int { encoder.count }

    // In each of the two, for the standard library has them too.
    func encode(_ value: Int128) throws { try encoder.next().writeItem(value) }
    func encode(_ value: UInt128) throws { try encoder.next().writeItem(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let key = IndexKey(count)
        try encoder.write(value, to: encoder.next(), key: key)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.child(nil).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.child(nil).unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder.child(nil) }
}

/// What a value encodes as one.
struct SingleItemWriter: SingleValueEncodingContainer, ItemWriter {
    let encoder: ItemEncoder

    func encode(_ value: Int128) throws { try encoder.next().writeItem(value) }
    func encode(_ value: UInt128) throws { try encoder.next().writeItem(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.write(value, to: encoder.next(), key: nil)
    }
}
