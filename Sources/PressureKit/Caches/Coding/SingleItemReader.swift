/// What a value decodes as one.
struct SingleItemReader: SingleValueDecodingContainer {
    let decoder: ItemDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { (try? decoder.reader.isNull(decoder.place)) ?? false }

    @inline(__always)
    private func read<Value>(
        _ body: (ItemReader, inout ItemPlace) throws(ItemFailure) -> Value
    ) throws -> Value {
        var place = decoder.place
        return try decoder.tell(Value.self, nil) { () throws(ItemFailure) in try body(decoder.reader, &place) }
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        try read { (reader, place) throws(ItemFailure) in try reader.bool(&place) }
    }

    func decode(_ type: String.Type) throws -> String {
        try read { (reader, place) throws(ItemFailure) in try reader.string(&place) }
    }

    func decode(_ type: Double.Type) throws -> Double {
        try read { (reader, place) throws(ItemFailure) in try reader.double(&place) }
    }

    func decode(_ type: Float.Type) throws -> Float {
        try read { (reader, place) throws(ItemFailure) in try reader.float(&place) }
    }

    @inline(__always)
    private func integer<Number: FixedWidthInteger>() throws -> Number {
        try read { (reader, place) throws(ItemFailure) in try reader.integer(&place) }
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        var place = decoder.place
        return try decoder.read(type, &place, key: nil)
    }
}
