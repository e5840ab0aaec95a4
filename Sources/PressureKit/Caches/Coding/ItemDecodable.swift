/// A type that is made of an item faster than by its `init(from:)`.
protocol ItemDecodable {
    /// Reads the item, and goes behind it. `decoder` is the one of the value around it.
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws
}

extension ItemDecodable where Self: FixedWidthInteger {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = try decoder.tell(Self.self, key) { () throws(ItemFailure) in try decoder.reader.integer(&place) }
    }
}

extension PackedNumber where Self: FixedWidthInteger {
    static func readPacked(_ kind: PackedKind, _ bytes: UnsafeRawBufferPointer) -> [Self]? {
        switch kind {
        case .int8: unsafe numbers(bytes, of: Int8.self)
        case .int16: unsafe numbers(bytes, of: Int16.self)
        case .int32: unsafe numbers(bytes, of: Int32.self)
        case .int64: unsafe numbers(bytes, of: Int64.self)
        case .uint8: unsafe numbers(bytes, of: UInt8.self)
        case .uint16: unsafe numbers(bytes, of: UInt16.self)
        case .uint32: unsafe numbers(bytes, of: UInt32.self)
        case .uint64: unsafe numbers(bytes, of: UInt64.self)
        case .float, .double: nil
        }
    }

    /// `nil` when one does not fit.
    private static func numbers<Stored: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: UnsafeRawBufferPointer,
        of type: Stored.Type
    ) -> [Self]? {
        let count = bytes.count / MemoryLayout<Stored>.size
        var isWhole = true
        let numbers = unsafe [Self](unsafeUninitializedCapacity: count) { room, made in
            for index in 0..<count {
                let stored = unsafe bytes.loadUnaligned(
                    fromByteOffset: index * MemoryLayout<Stored>.size,
                    as: Stored.self
                )
                let number = Self(truncatingIfNeeded: Stored(littleEndian: stored))
                if number != Stored(littleEndian: stored) { isWhole = false }
                unsafe room.initializeElement(at: index, to: number)
            }
            made = count
        }
        return isWhole ? numbers : nil
    }
}

extension Int: ItemDecodable {}
extension Int8: ItemDecodable {}
extension Int16: ItemDecodable {}
extension Int32: ItemDecodable {}
extension Int64: ItemDecodable {}
extension UInt: ItemDecodable {}
extension UInt8: ItemDecodable {}
extension UInt16: ItemDecodable {}
extension UInt32: ItemDecodable {}
extension UInt64: ItemDecodable {}
extension Int128: ItemDecodable {}
extension UInt128: ItemDecodable {}

extension Double: ItemDecodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = try decoder.tell(Self.self, key) { () throws(ItemFailure) in try decoder.reader.double(&place) }
    }

    static func readPacked(_ kind: PackedKind, _ bytes: UnsafeRawBufferPointer) -> [Double]? {
        guard kind == .double else { return nil }
        return (0..<bytes.count / 8).map { index in
            // Within the bytes.
            let bits = unsafe bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
            return Double(bitPattern: UInt64(littleEndian: bits))
        }
    }
}

extension Float: ItemDecodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = try decoder.tell(Self.self, key) { () throws(ItemFailure) in try decoder.reader.float(&place) }
    }

    static func readPacked(_ kind: PackedKind, _ bytes: UnsafeRawBufferPointer) -> [Float]? {
        guard kind == .float else { return nil }
        return (0..<bytes.count / 4).map { index in
            // Within the bytes.
            let bits = unsafe bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
            return Float(bitPattern: UInt32(littleEndian: bits))
        }
    }
}

extension Bool: ItemDecodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = try decoder.tell(Self.self, key) { () throws(ItemFailure) in try decoder.reader.bool(&place) }
    }
}

extension String: ItemDecodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = try decoder.tell(Self.self, key) { () throws(ItemFailure) in try decoder.reader.string(&place) }
    }
}

extension Optional: ItemDecodable where Wrapped: Decodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        if try decoder.tell(Self.self, key, { () throws(ItemFailure) in try decoder.reader.isNull(place) }) {
            place.offset += 1
            self = nil
        } else {
            self = try decoder.read(Wrapped.self, &place, key: key)
        }
    }
}

extension Array: ItemDecodable where Element: Decodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        if let number = Element.self as? any PackedNumber.Type,
            let numbers = try Self.unpack(number, &place, decoder, key)
        {
            self = numbers
            return
        }
        self = []
        var items = try UnkeyedItemReader(ItemDecoder(decoder.session, place, parent: decoder, key: key))
        // Each is what it is taken for, and is not boxed.
        if Element.self == Int128.self {
            while !items.isAtEnd { append(unsafe unsafeBitCast(try items.decode(Int128.self), to: Element.self)) }
        } else if Element.self == UInt128.self {
            while !items.isAtEnd { append(unsafe unsafeBitCast(try items.decode(UInt128.self), to: Element.self)) }
        }
        while !items.isAtEnd { append(try items.decode(Element.self)) }
        place.offset = items.end
    }

    /// All numbers at once; `nil` if they are not packed, or of another kind.
    private static func unpack<Number: PackedNumber>(
        _ type: Number.Type,
        _ place: inout ItemPlace,
        _ decoder: ItemDecoder,
        _ key: (any CodingKey)?
    ) throws -> [Element]? {
        let reader = decoder.reader
        guard place.packed == nil, (try? reader.byte(at: place.offset)) == ItemTag.packed else { return nil }
        let start = place.offset
        let end = try decoder.tell([Element].self, key) { () throws(ItemFailure) in
            let packed = try reader.packed(at: start)
            return (kind: packed.kind, start: packed.start, byteCount: packed.count * packed.kind.width)
        }
        let bytes = try unsafe decoder.tell([Element].self, key) { () throws(ItemFailure) in
            unsafe try reader.bytes(at: end.start, count: end.byteCount)
        }
        guard let numbers = unsafe Number.readPacked(end.kind, bytes) else { return nil }
        place.offset = end.start + end.byteCount
        // `Number` is `Element`.
        return unsafe unsafeBitCast(numbers, to: [Element].self)
    }
}

extension Set: ItemDecodable where Element: Decodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = []
        var items = try UnkeyedItemReader(ItemDecoder(decoder.session, place, parent: decoder, key: key))
        while !items.isAtEnd { insert(try items.decode(Element.self)) }
        place.offset = items.end
    }
}

extension Dictionary: ItemDecodable where Key: Decodable, Value: Decodable {
    init(readingItem place: inout ItemPlace, by decoder: ItemDecoder, key: (any CodingKey)?) throws {
        self = [:]
        let own = ItemDecoder(decoder.session, place, parent: decoder, key: key)
        guard let way = Key.self as? any CodingKeyRepresentable.Type else {
            var items = try UnkeyedItemReader(own)
            while !items.isAtEnd {
                let key = try items.decode(Key.self)
                self[key] = try items.decode(Value.self)
            }
            place.offset = items.end
            return
        }
        let reader = decoder.reader
        var next = try own.tell(Self.self, nil) { () throws(ItemFailure) in
            guard place.packed == nil else { throw .mismatch(tag: ItemTag.packed) }
            return ItemPlace(offset: try reader.open(place.offset, ItemTag.keyed))
        }
        while try own.tell(
            Self.self,
            nil,
            { () throws(ItemFailure) in try reader.byte(at: next.offset) != ItemTag.end }
        ) {
            let name = try own.tell(Self.self, nil) { () throws(ItemFailure) in try NameKey(&next, reader) }
            guard let key = way.init(codingKey: name) as? Key else {
                throw own.error(.damaged, Key.self, name)
            }
            self[key] = try own.read(Value.self, &next, key: name)
        }
        place.offset = next.offset + 1
    }
}

/// A key as it was read.
struct NameKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = Int(stringValue)
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    /// Reads one, and goes behind it.
    init(_ place: inout ItemPlace, _ reader: ItemReader) throws(ItemFailure) {
        let tag = try reader.byte(at: place.offset)
        if tag == ItemTag.string || ItemTag.shortString...ItemTag.shortString + 31 ~= tag {
            self.init(stringValue: try reader.string(&place))
        } else {
            self.init(intValue: try reader.integer(&place))
        }
    }
}
