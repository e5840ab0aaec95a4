/// What a value decodes in order: items, or numbers of a packed array.
struct UnkeyedItemReader: UnkeyedDecodingContainer {
    private let decoder: ItemDecoder
    private var place: ItemPlace
    /// How many numbers are left in a packed array.
    private var left = 0
    private(set) var currentIndex = 0

    init(_ decoder: ItemDecoder) throws {
        self.decoder = decoder
        let (reader, start) = (decoder.reader, decoder.place)
        let opened = try decoder.tell([Any].self, nil) { () throws(ItemFailure) in
            guard start.packed == nil else { throw .mismatch(tag: ItemTag.packed) }
            guard try reader.byte(at: start.offset) == ItemTag.packed else {
                return (place: ItemPlace(offset: try reader.open(start.offset, ItemTag.array)), count: 0)
            }
            let packed = try reader.packed(at: start.offset)
            return (ItemPlace(offset: packed.start, packed: packed.kind), packed.count)
        }
        (place, left) = opened
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Those of a packed array are known, others are counted.
    var count: Int? {
        if place.packed != nil { return currentIndex + left }
        var (count, offset) = (currentIndex, place.offset)
        while let tag = try? decoder.reader.byte(at: offset), tag != ItemTag.end {
            guard let end = try? decoder.reader.skip(offset) else { return nil }
            (count, offset) = (count + 1, end)
        }
        return count
    }

    /// Also where the bytes end too early: then `decode` is not called in vain, and the item around this one is damaged.
    var isAtEnd: Bool {
        if place.packed != nil { return left == 0 }
        guard let tag = try? decoder.reader.byte(at: place.offset) else { return true }
        return tag == ItemTag.end
    }

    /// What is behind the last item, if this is at its end.
    var end: Int { place.packed != nil ? place.offset : place.offset + 1 }

    private func checkEnd(_ type: any Any.Type) throws {
        guard isAtEnd else { return }
        throw DecodingError.valueNotFound(
            type,
            .init(codingPath: codingPath + [IndexKey(currentIndex)], debugDescription: "There are no more values.")
        )
    }

    private mutating func passed() {
        currentIndex += 1
        if place.packed != nil { left -= 1 }
    }

    @inline(__always)
    private mutating func read<Value>(
        _ body: (ItemReader, inout ItemPlace) throws(ItemFailure) -> Value
    ) throws -> Value {
        try checkEnd(Value.self)
        do throws(ItemFailure) {
            var next = place
            let value = try body(decoder.reader, &next)
            place = next
            passed()
            return value
        } catch {
            throw decoder.error(error, Value.self, IndexKey(currentIndex))
        }
    }

    mutating func decodeNil() throws -> Bool {
        try checkEnd(Any?.self)
        let place = place
        let isNull = try decoder.tell(Any?.self, nil) { () throws(ItemFailure) in try decoder.reader.isNull(place) }
        if isNull {
            self.place.offset += 1
            passed()
        }
        return isNull
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try read { (reader, place) throws(ItemFailure) in try reader.bool(&place) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try read { (reader, place) throws(ItemFailure) in try reader.string(&place) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try read { (reader, place) throws(ItemFailure) in try reader.double(&place) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try read { (reader, place) throws(ItemFailure) in try reader.float(&place) }
    }

    @inline(__always)
    private mutating func integer<Number: FixedWidthInteger>() throws -> Number {
        try read { (reader, place) throws(ItemFailure) in try reader.integer(&place) }
    }

    mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try checkEnd(type)
        var next = place
        let value = try decoder.read(type, &next, key: IndexKey(currentIndex))
        place = next
        passed()
        return value
    }

    /// What is to be decoded by a decoder of its own.
    private mutating func child(_ type: any Any.Type) throws -> ItemDecoder {
        try checkEnd(type)
        let key = IndexKey(currentIndex)
        let child = ItemDecoder(decoder.session, place, parent: decoder, key: key)
        try decoder.skip(&place, type, key)
        passed()
        return child
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try child(type).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try child([Any].self).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try child((any Decoder).self) }
}
