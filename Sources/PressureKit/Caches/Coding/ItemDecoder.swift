/// A `Decoder` of items. Used on one thread, and not after the bytes are gone.
final class ItemDecoder: Decoder {
    /// What all decoders of one value share.
    final class Session {
        let reader: ItemReader
        var userInfo: [CodingUserInfoKey: Any]
        /// How deep the value is that is being decoded.
        var depth = 0
        /// A type that is known to have no way of its own to be read.
        var plainType: ObjectIdentifier?

        init(_ reader: ItemReader, userInfo: [CodingUserInfoKey: Any]) {
            self.reader = reader
            self.userInfo = userInfo
        }
    }

    let session: Session
    let place: ItemPlace
    private let parent: ItemDecoder?
    private let key: (any CodingKey)?

    init(_ session: Session, _ place: ItemPlace, parent: ItemDecoder?, key: (any CodingKey)?) {
        self.session = session
        self.place = place
        self.parent = parent
        self.key = key
    }

    /// Decodes the value that begins at `offset`; nothing may follow.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: UnsafeRawBufferPointer,
        at offset: Int,
        userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws -> Value {
        let session = unsafe Session(ItemReader(bytes), userInfo: userInfo)
        let root = ItemDecoder(session, ItemPlace(offset: offset), parent: nil, key: nil)
        var place = root.place
        let value = try root.read(type, &place, key: nil)
        guard place.offset == bytes.count else { throw root.error(.damaged, type, nil) }
        return value
    }

    var reader: ItemReader { session.reader }

    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    var codingPath: [any CodingKey] {
        let path = parent?.codingPath ?? []
        return key.map { path + [$0] } ?? path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try KeyedItemReader<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedItemReader(self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleItemReader(decoder: self) }

    /// Reads a value, in its own way if it has one, and goes behind it.
    func read<Value: Decodable>(_ type: Value.Type, _ place: inout ItemPlace, key: (any CodingKey)?) throws -> Value {
        if session.plainType != ObjectIdentifier(type), let way = type as? any ItemDecodable.Type {
            if let value = try way.init(readingItem: &place, by: self, key: key) as? Value { return value }
        }
        session.plainType = ObjectIdentifier(type)
        guard session.depth < ItemTag.mostDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "Values lie too deep."))
        }
        session.depth += 1
        defer { session.depth -= 1 }
        let value = try Value(from: ItemDecoder(session, place, parent: self, key: key))
        try skip(&place, type, key)
        return value
    }

    /// Goes behind an item.
    func skip(_ place: inout ItemPlace, _ type: any Any.Type, _ key: (any CodingKey)?) throws {
        try tell(type, key) { () throws(ItemFailure) in
            if let kind = place.packed {
                place.offset += kind.width
            } else {
                place.offset = try reader.skip(place.offset)
            }
        }
    }

    /// Reads something, and tells a failure in the words of `Codable`.
    @inline(__always)
    func tell<Result>(
        _ type: any Any.Type,
        _ key: (any CodingKey)?,
        _ body: () throws(ItemFailure) -> Result
    ) throws -> Result {
        do throws(ItemFailure) {
            return try body()
        } catch {
            throw self.error(error, type, key)
        }
    }

    func error(_ failure: ItemFailure, _ type: any Any.Type, _ key: (any CodingKey)?) -> DecodingError {
        let path = key.map { codingPath + [$0] } ?? codingPath
        func context(_ text: String) -> DecodingError.Context { .init(codingPath: path, debugDescription: text) }
        return switch failure {
        case .damaged: .dataCorrupted(context("The bytes are not those of a value."))
        case .mismatch: .typeMismatch(type, context("Expected \(type), found something else."))
        case .null: .valueNotFound(type, context("Expected \(type), found nil."))
        case .unfit: .dataCorrupted(context("The number does not fit \(type)."))
        }
    }
}
