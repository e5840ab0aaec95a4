/// The first byte of an item. ``Coded`` values are written as items, one behind the other:
///
/// | byte | what follows |
/// |---|---|
/// | `00`, `01`, `02` | nothing: nil, false, true |
/// | `03`, `04` | the 4 bytes of a `Float`, the 8 of a `Double` |
/// | `05` | a string: its length (LEB128), its UTF-8 |
/// | `06` | numbers: their ``PackedKind``, how many (LEB128), all of them |
/// | `07` | an array: the length of the rest in 3 bytes or 0, items, `09` |
/// | `08` | a keyed container: the same, with a string or an integer before each item |
/// | `10`…`1f` | an integer of 1 to 16 bytes that is not below zero |
/// | `20`…`2f` | one below zero: the 1 to 16 bytes of its complement |
/// | `40`…`5f` | a string of 0 to 31 bytes |
/// | `80`…`ff` | nothing: an integer of 0 to 127 |
///
/// All numbers are little-endian, and integers as short as possible. A container has no length, and is read to its end to
/// be skipped, if its beginning had been passed on before its end was known: containers of some 256 KiB and more.
enum ItemTag {
    static let null: UInt8 = 0x00
    static let no: UInt8 = 0x01
    static let yes: UInt8 = 0x02
    static let float: UInt8 = 0x03
    static let double: UInt8 = 0x04
    static let string: UInt8 = 0x05
    static let packed: UInt8 = 0x06
    static let array: UInt8 = 0x07
    static let keyed: UInt8 = 0x08
    static let end: UInt8 = 0x09
    static let positive: UInt8 = 0x10
    static let negative: UInt8 = 0x20
    static let shortString: UInt8 = 0x40
    static let smallInteger: UInt8 = 0x80

    /// The most bytes of a string that has its length in its tag.
    static let shortStringLimit = 31
    /// How deep values may lie in each other: as Foundation's JSON decoder has it.
    static let mostDepth = 512
}

/// What the numbers of a packed array are.
enum PackedKind: UInt8 {
    case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double

    /// The bytes of one.
    var width: Int {
        switch self {
        case .int8, .uint8: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float: 4
        case .int64, .uint64, .double: 8
        }
    }

    /// Whether a number may be below zero.
    var isSigned: Bool { rawValue < Self.uint8.rawValue }

    /// The narrowest that has room for all numbers from `least` to `most`.
    static func narrowest<Number: FixedWidthInteger>(from least: Number, to most: Number) -> PackedKind {
        if least < 0 {
            if Int8(exactly: least) != nil, Int8(exactly: most) != nil { return .int8 }
            if Int16(exactly: least) != nil, Int16(exactly: most) != nil { return .int16 }
            return Int32(exactly: least) != nil && Int32(exactly: most) != nil ? .int32 : .int64
        }
        if UInt8(exactly: most) != nil { return .uint8 }
        if UInt16(exactly: most) != nil { return .uint16 }
        return UInt32(exactly: most) != nil ? .uint32 : .uint64
    }
}
