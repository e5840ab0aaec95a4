/// An `Encoder` whose value is written as items, as it comes. Used on one thread.
///
/// What is encoded goes straight to the writer. Only a container that was asked for by name (`nestedContainer`,
/// `superEncoder`), which may be filled at any time until the value around it is done, and what comes behind it in that value,
/// is kept until then.
final class ItemEncoder: Encoder {
    /// What all encoders of one value share.
    final class Session {
        /// How deep the value is that is being encoded.
        var depth = 0
        /// A type that is known to have no way of its own to be written.
        var plainType: ObjectIdentifier?
        /// Encoders that are done, to be used again.
        var spares: [ItemEncoder] = []
    }

    /// A part of a value that has to wait.
    private enum Part {
        /// What was asked for by name, and the name.
        case child(String?, ItemEncoder)
        /// What came behind that.
        case items(SpillWriter)
    }

    private enum Shape { case none, single, keyed, unkeyed }

    let session: Session
    private(set) var writer: SpillWriter
    private var parent: ItemEncoder?
    private var key: (any CodingKey)?
    /// Where a container is that was asked for by name: its parent keeps it, so it does not keep its parent.
    private var path: [any CodingKey] = []
    private var shape = Shape.none
    /// Where the length of the container goes, once it is begun.
    private var lengthPlace: Int?
    private var parts: [Part] = []
    private var keys = KeyRecord()
    private var failure: EncodingError?
    /// How many items there are.
    private(set) var count = 0

    init(_ session: Session, writer: SpillWriter, parent: ItemEncoder?, key: (any CodingKey)?) {
        self.session = session
        self.writer = writer
        self.parent = parent
        self.key = key
    }

    /// Encodes a whole value.
    static func encode(_ value: some Encodable, to writer: SpillWriter) throws {
        let session = Session()
        // They keep the session, and it keeps them.
        defer { session.spares = [] }
        try ItemEncoder(session, writer: writer, parent: nil, key: nil).write(value, to: writer, key: nil)
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var codingPath: [any CodingKey] {
        let path = parent?.codingPath ?? self.path
        return key.map { path + [$0] } ?? path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        take(.keyed)
        return KeyedEncodingContainer(KeyedItemWriter<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        take(.unkeyed)
        return UnkeyedItemWriter(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        take(.single)
        return SingleItemWriter(encoder: self)
    }

    private func take(_ wanted: Shape) {
        // Neither may throw: it is told when something is encoded, or at the end.
        if shape != .none, shape != wanted { fail("asked for containers of two kinds") }
        shape = wanted
    }

    private func fail(_ reason: String) {
        failure = .invalidValue(0, .init(codingPath: codingPath, debugDescription: "A value has \(reason)."))
    }

    // MARK: Items

    /// Where the next item of a keyed container goes; its key is written.
    func next(_ key: some CodingKey) throws -> SpillWriter {
        let name = key.stringValue
        guard keys.insert(name) else { throw twice(name) }
        let target = try target()
        try target.writeItem(name)
        return target
    }

    /// Where the next item of another container goes.
    func next() throws -> SpillWriter {
        if shape == .single, count > 0 { fail("encoded two values into a container for one") }
        count += 1
        return try target()
    }

    /// Writes a value, in its own way if it has one.
    func write<Value: Encodable>(_ value: Value, to target: SpillWriter, key: (any CodingKey)?) throws {
        if session.plainType != ObjectIdentifier(Value.self), let value = value as? any ItemEncodable {
            return try value.writeItem(to: target, by: self)
        }
        session.plainType = ObjectIdentifier(Value.self)
        guard session.depth < ItemTag.mostDepth else {
            let path = codingPath
            throw EncodingError.invalidValue(value, .init(codingPath: path, debugDescription: "Values lie too deep."))
        }
        session.depth += 1
        defer { session.depth -= 1 }
        var child: ItemEncoder
        if let spare = session.spares.popLast() {
            spare.reuse(target, self, key)
            child = spare
        } else {
            child = ItemEncoder(session, writer: target, parent: self, key: key)
        }
        try value.encode(to: child)
        try child.finish()
        // One that the value has kept is not ours to use again.
        if isKnownUniquelyReferenced(&child) {
            child.parent = nil
            session.spares.append(child)
        }
    }

    /// A container or encoder that was asked for by name, or by nothing in an array.
    func child(_ key: (any CodingKey)?) -> ItemEncoder {
        let child = ItemEncoder(session, writer: SpillWriter(), parent: nil, key: key)
        child.path = codingPath
        if let key {
            if !keys.insert(key.stringValue) { fail("encoded twice for the key \(key.stringValue)") }
        }
        count += 1
        parts.append(.child(key?.stringValue, child))
        return child
    }

    /// Ends the value: nothing of it waits any more.
    func finish() throws {
        if let failure { throw failure }
        switch shape {
        case .none: fail("encoded nothing")
        case .single where count == 0: fail("encoded nothing")
        case .single: return
        case .keyed, .unkeyed:
            let place = try begin()
            for part in parts {
                switch part {
                case .items(let items): try unsafe items.withBytes { unsafe try writer.write($0) }
                case .child(let name, let child):
                    if let name { try writer.writeItem(name) }
                    if child.shape == .none { child.failure = nil } else { try child.finish() }
                    let isEmpty = child.writer.byteCount == 0
                    if isEmpty { try writer.writeNull() }
                    try unsafe child.writer.withBytes { unsafe try writer.write($0) }
                }
            }
            parts = []
            try writer.endContainer(place)
        }
        if let failure { throw failure }
    }

    /// Where direct items go: to the writer, or behind what has to wait.
    private func target() throws -> SpillWriter {
        if let failure { throw failure }
        guard let last = parts.last else {
            if shape != .single { _ = try begin() }
            return writer
        }
        if case .items(let items) = last { return items }
        let items = SpillWriter()
        parts.append(.items(items))
        return items
    }

    private func begin() throws -> Int {
        if let lengthPlace { return lengthPlace }
        let place = try writer.beginContainer(shape == .keyed ? ItemTag.keyed : ItemTag.array)
        lengthPlace = place
        return place
    }

    private func reuse(_ writer: SpillWriter, _ parent: ItemEncoder, _ key: (any CodingKey)?) {
        self.writer = writer
        self.parent = parent
        self.key = key
        shape = .none
        lengthPlace = nil
        count = 0
        keys.removeAll()
    }

    func twice(_ name: String) -> EncodingError {
        .invalidValue(name, .init(codingPath: codingPath, debugDescription: "A value has encoded twice for one key."))
    }
}

/// Which keys a container has, by hashes of 64 bits: a key that is written twice would lose one of its values, so it is an
/// error, and so is, once in some 10^19 pairs, one that only looks so.
private struct KeyRecord {
    private var few: ContiguousArray<UInt64> = []
    private var many: Set<UInt64> = []

    /// Whether it is new.
    mutating func insert(_ name: String) -> Bool {
        // FNV-1a (Fowler, Noll, Vo), the same in every process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        guard few.count >= 32 else {
            for other in few where other == hash { return false }
            few.append(hash)
            return true
        }
        if many.isEmpty { many = Set(few) }
        return many.insert(hash).inserted
    }

    mutating func removeAll() {
        few.removeAll(keepingCapacity: true)
        if !many.isEmpty { many = [] }
    }
}
