/// A type that writes itself as an item, faster than by its `encode(to:)`, or in an order that is always the same.
protocol ItemEncodable {
    /// Writes the item. `encoder` is the one of the value around it.
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws
}

/// A number of which many are packed.
protocol PackedNumber: BitwiseCopyable, ItemEncodable {
    static func writePacked(_ numbers: UnsafeBufferPointer<Self>, to writer: SpillWriter) throws
    static func readPacked(_ kind: PackedKind, _ bytes: UnsafeRawBufferPointer) -> [Self]?
}

extension ItemEncodable where Self: FixedWidthInteger {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws { try writer.writeItem(self) }
}

extension PackedNumber where Self: FixedWidthInteger {
    static func writePacked(_ numbers: UnsafeBufferPointer<Self>, to writer: SpillWriter) throws {
        if Self.self == UInt8.self {
            try writer.beginPacked(.uint8, count: numbers.count)
            // Read before it returns.
            return try unsafe writer.write(UnsafeRawBufferPointer(numbers))
        }
        try unsafe writer.writePacked(numbers)
    }
}

extension Int: PackedNumber {}
extension Int8: PackedNumber {}
extension Int16: PackedNumber {}
extension Int32: PackedNumber {}
extension Int64: PackedNumber {}
extension UInt: PackedNumber {}
extension UInt8: PackedNumber {}
extension UInt16: PackedNumber {}
extension UInt32: PackedNumber {}
extension UInt64: PackedNumber {}
// No packed kind is as wide: in arrays they are items.
extension Int128: ItemEncodable {}
extension UInt128: ItemEncodable {}

extension Double: PackedNumber {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws { try writer.writeItem(self) }

    static func writePacked(_ numbers: UnsafeBufferPointer<Double>, to writer: SpillWriter) throws {
        try writer.beginPacked(.double, count: numbers.count)
        for index in numbers.indices { try unsafe writer.write(numbers[index].bitPattern, byteCount: 8) }
    }
}

extension Float: PackedNumber {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws { try writer.writeItem(self) }

    static func writePacked(_ numbers: UnsafeBufferPointer<Float>, to writer: SpillWriter) throws {
        try writer.beginPacked(.float, count: numbers.count)
        for index in numbers.indices { try unsafe writer.write(UInt64(numbers[index].bitPattern), byteCount: 4) }
    }
}

extension Bool: ItemEncodable {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws { try writer.writeItem(self) }
}

extension String: ItemEncodable {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws { try writer.writeItem(self) }
}

extension Optional: ItemEncodable where Wrapped: Encodable {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws {
        if let self { try encoder.write(self, to: writer, key: nil) } else { try writer.writeNull() }
    }
}

extension Array: ItemEncodable where Element: Encodable {
    func writeItem(to writer: SpillWriter, by encoder: ItemEncoder) throws {
        if let number = Element.self as? any PackedNumber.Type { return try pack(number, to: writer) }
        let place = try writer.beginContainer(ItemTag.array)
        // Each is what it is taken for. As anything else they would be boxed: an existential has no room for them in place.
        if Element.self == Int128.self {
            let numbers = unsafe unsafeBitCast(self, to: [Int128].self)
            for index in numbers.indices { try writer.writeItem(numbers[index]) }
        } else if Element.self == UInt128.self {
            let numbers = unsafe unsafeBitCast(self, to: [UInt128].self)
            for index in numbers.indices { try writer.writeItem(numbers[index]) }
        } else {
            for element in self { try encoder.write(element, to: writer, key: nil) }
        }
        try writer.endContainer(place)
    }

    private func pack<Number: PackedNumber>(_ type: Number.Type, to writer: SpillWriter) throws {
        try unsafe withUnsafeBufferPointer { elements in
            // `Number` is `Element`, and what is there stays there meanwhile.
            let numbers = unsafe UnsafeRawBufferPointer(elements).assumingMemoryBound(to: Number.self)
            try unsafe Number.writePacked(numbers, to: writer)
        }
    }
}
